// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/following.h"

#include "app/lab/state/lab_state.h"

#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kFollowMs = 500;  // between two readings
constexpr double kReadingShare =
    10;                           // a reading that takes long is followed by a pause of so many times that
constexpr int kMaxFailures = 10;  // of a file that its writer is just writing to; then it is given up

/// Of a file on another machine ("ssh://host /path") its place and its path there; of one here an empty
/// place.
std::pair<std::string, std::string> placeAndPath(const std::string& file) {
    const std::size_t space = file.find(' ');
    return is_remote(file) ? std::pair(file.substr(0, space), file.substr(space + 1))
                           : std::pair(std::string(), file);
}

/// Why its recipe cannot be read.
QString problemOf(const RunData& run) {
    return QString::fromStdString(run.recipe.problem());
}

QString nameOfRun(const LabRun& run) {
    return QString::fromStdString(run.data->name);
}

}  // namespace

Following::Following(LabState& state) : state_(state) {
    next_.setSingleShot(true);
    next_.setInterval(kFollowMs);
    connect(&next_, &QTimer::timeout, this, &Following::ask);
    connect(&state_, &LabState::runsChanged, this, &Following::update);
    state_.onReply(state_.io(), &IoWorker::followed, this, &Following::apply);
    state_.onReply(state_.engine(), &Engines::followed, this, &Following::apply);
}

QString Following::lineOf(const LabRun& run) {
    if (!run.followed) return {};
    const std::string& writer = run.followed->writer;
    return tr("%1 is written by %2 and shown live")
        .arg(nameOfRun(run), writer.empty() ? tr("another process") : QString::fromStdString(writer));
}

bool Following::any() const {
    const auto& runs = state_.now.runs;
    return std::any_of(runs.begin(), runs.end(), [](const LabRun& run) { return run.followed; });
}

void Following::update() {
    if (!next_.isActive() && any()) next_.start();
}

void Following::ask() {
    std::map<std::string, FollowRequest> requests;
    for (const LabRun& run : state_.now.runs) {
        if (!run.followed) continue;
        const auto [place, path] = placeAndPath(run.followed->path);
        if (!readingOf(place).waiting()) requests[place].runs.push_back({run.id, path, run.followed->mark});
    }
    for (auto& [place, request] : requests) {
        request.token = readingOf(place).ask(true);
        if (place.empty())
            QMetaObject::invokeMethod(state_.io(),
                                      [io = state_.io(), request = request] { io->follow(request); });
        else
            state_.engine()->follow(place, request);
    }
}

Following::Reading& Following::readingOf(const std::string& place) {
    return reading_.try_emplace(place, state_.requests, "follow", Reading::Replies::OfNewest).first->second;
}

void Following::apply(const FollowReplyPtr& reply) {
    const bool asked = std::any_of(reading_.begin(), reading_.end(),
                                   [&](auto& place) { return place.second.take(reply->token).has_value(); });
    if (!asked) return update();
    QStringList panels;
    bool runs = false;
    for (const FollowReply::Run& read : reply->runs) {
        LabRun* run = state_.now.find(read.id);
        if (run && run->followed && run->followed->path == read.path) runs |= extend(*run, read, panels);
    }
    next_.setInterval(std::max(kFollowMs, static_cast<int>(std::ceil(reply->ms * kReadingShare))));
    if (runs) {
        Q_EMIT state_.runsChanged();
        Q_EMIT state_.trainingChanged();
    }
    if (!panels.isEmpty()) Q_EMIT state_.dataChanged(panels);
    update();
}

/// Adds what was read. Whether the list of runs has changed with it.
bool Following::extend(LabRun& run, const FollowReply::Run& read, QStringList& panels) {
    Followed& followed = *run.followed;
    if (!read.growth) {
        if (++followed.failures < kMaxFailures) return false;
        end(run,
            tr("%1 is not followed any more: %2").arg(nameOfRun(run), QString::fromStdString(read.problem)),
            panels);
        return true;
    }
    const RecordingGrowth& growth = *read.growth;
    const Recipe* recipe = growth.run.recipe.get();
    if (growth.whole && !recipe) {
        end(run, tr("%1 is not followed any more: %2").arg(nameOfRun(run), problemOf(growth.run)), panels);
        return true;
    }
    const bool found = followed.writer.empty() && !growth.writer.empty();
    followed = {followed.path, growth.mark, growth.writer, 0};
    RunData& data = *run.data;
    if (growth.whole) {
        const std::string id = data.id, name = data.name;
        data = growth.run;
        data.id = id;
        data.name = name;
        run.replayed.clear();
        run.recipe = run.live = *recipe;  // of another run than before
        for (const auto& [probe, samples] : growth.run.probes) panels << QString::fromStdString(probe);
    } else {
        for (std::size_t row = 0; row < growth.run.steps.rows(); ++row) {
            StepRecord record{growth.run.steps.step[row], {}};
            for (std::size_t c = 0; c < growth.run.steps.names.size(); ++c)
                record.values.emplace_back(growth.run.steps.names[c], growth.run.steps.columns[c][row]);
            data.steps.append(record);
        }
        for (const auto& [probe, samples] : growth.run.probes) {
            for (const ProbeResult& sample : samples) insert_sample(data, sample);
            panels << QString::fromStdString(probe);
        }
        data.events.insert(data.events.end(), growth.run.events.begin(), growth.run.events.end());
    }
    if (growth.run.steps.rows() > 0 || !growth.run.events.empty()) panels << QStringLiteral("training");
    const bool changed = data.outcome.state != growth.run.outcome.state || growth.whole;
    data.outcome = growth.run.outcome;
    if (data.outcome.step < 0 && !run.unfinished()) data.outcome.step = run.lastStep();
    if (!growth.writer.empty() && run.unfinished()) {
        if (found) Q_EMIT noted(lineOf(run));
        return changed || found;
    }
    end(run,
        run.unfinished() || data.outcome.state == RunState::Interrupted
            ? tr("The process that writes %1 has ended at step %2").arg(nameOfRun(run)).arg(run.lastStep())
            : tr("%1 has ended in the process that wrote it").arg(nameOfRun(run)),
        panels);
    return true;
}

void Following::end(LabRun& run, const QString& line, QStringList& panels) {
    run.followed.reset();
    for (const auto& [probe, samples] : run.data->probes) panels << QString::fromStdString(probe);
    if (run.unfinished()) {
        run.data->outcome.state = run.trained() ? RunState::Interrupted : RunState::Prepared;
        run.data->outcome.step = run.lastStep();
    }
    Q_EMIT noted(line);
}

}  // namespace normscope::app
