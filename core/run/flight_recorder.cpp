// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/flight_recorder.h"

#include <utility>

namespace normscope {

namespace {

ProbeResult sample(std::int64_t step, std::vector<double> rms, std::vector<double> gradient) {
    ProbeResult result;
    result.probe = FlightRecorder::kId;
    result.step = step;
    const std::size_t states = rms.size();
    result.arrays.push_back({"rms", {states}, std::move(rms), {"hidden_state"}, "1"});
    result.arrays.push_back({"gradient", {states}, std::move(gradient), {"hidden_state"}, "nat"});
    result.labels["sampled"] = {"training batch"};
    return result;
}

}  // namespace

void FlightRecorder::add(std::int64_t step, std::vector<double> rms, std::vector<double> gradient) {
    if (stored_.size() == kSteps) stored_.pop_front();
    stored_.push_back(sample(step, std::move(rms), std::move(gradient)));
}

std::vector<ProbeResult> FlightRecorder::take() {
    std::vector<ProbeResult> samples(std::make_move_iterator(stored_.begin()),
                                     std::make_move_iterator(stored_.end()));
    stored_.clear();
    return samples;
}

ProbeSchema FlightRecorder::schema(int depth) {
    const std::vector<double> states(2 * static_cast<std::size_t>(depth) + 1);
    return schema_of(sample(0, states, states));
}

}  // namespace normscope
