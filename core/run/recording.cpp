// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/recording.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

using namespace std::chrono_literals;
constexpr auto kHeartbeat = 1s;

/// The first sample of each probe.
std::vector<ProbeResult> firsts(const std::vector<ProbeResult>& samples) {
    std::vector<ProbeResult> first;
    for (const ProbeResult& sample : samples)
        if (std::none_of(first.begin(), first.end(),
                         [&](const auto& known) { return known.probe == sample.probe; }))
            first.push_back(sample);
    return first;
}

}  // namespace

Recording::Recording(std::string path, std::shared_ptr<const RunData> header)
    : path_(std::move(path)), header_(std::move(header)), checkpoints_(path_) {
    if (header_->steps.rows() > 0) last_step_ = header_->steps.step.back();
}

void Recording::open(const RunDelta& delta) {
    const bool continues = header_->steps.rows() > 0;
    recorder_ = std::make_unique<Recorder>(
        path_, continues ? recording_schema(*header_) : recording_schema(*header_, firsts(delta.probes)),
        continues ? header_.get() : nullptr);
    header_.reset();
    append(*recorder_, std::exchange(waiting_, {}));
}

void Recording::add(const RunDelta& delta) {
    if (!recorder_) {
        if (header_->steps.rows() == 0 && delta.steps.empty() && delta.probes.empty())
            return merge(waiting_, delta);
        open(delta);
    }
    append(*recorder_, delta);
    if (!delta.steps.empty()) last_step_ = delta.steps.back().step;
    if (std::chrono::steady_clock::now() - last_heartbeat_ >= kHeartbeat) heartbeat();
}

void Recording::save(const std::shared_ptr<const Checkpoint>& checkpoint) {
    if (recorder_) recorder_->flush();
    checkpoint->step == 0 ? checkpoints_.save_start(*checkpoint) : checkpoints_.save(*checkpoint);
}

void Recording::heartbeat() {
    if (!recorder_) return;
    last_heartbeat_ = std::chrono::steady_clock::now();
    recorder_->heartbeat();
}

void Recording::close() {
    if (recorder_) recorder_->close();
}

void Recording::abandon(const Outcome& outcome) noexcept {
    try {
        if (!recorder_) return;
        recorder_->set_state(outcome);
        recorder_->close();
    } catch (const std::exception&) {
        // The recording failed; readers find it interrupted.
    }
}

}  // namespace normscope
