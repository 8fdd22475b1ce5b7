// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recording_schema.h"
#include "core/session/run_data.h"

#include <cstdint>
#include <functional>
#include <string>

namespace normscope::sample {

/// A run with every feature of RunData: floors, val_loss NaN, probes of all ranks, labels, events beyond
/// ASCII. Its values are functions of the step, so that a reader can verify a prefix.
RunData run(const std::string& id, int steps);
StepRecord step(std::int64_t step);
ProbeResult growth(std::int64_t step);
ProbeResult theta(std::int64_t step);
ProbeResult null_space(std::int64_t step);
RecordingSchema schema(const std::string& id);

/// Empty when equal, NaN being equal to NaN of the same bits; else the first difference.
std::string difference(const RunData& a, const RunData& b);
/// Empty when every row, sample and event is that of its step.
std::string broken_prefix(const RunData& read);

/// Runs `child` in a forked process; gives its pid to `parent`, then collects it. The exit code, or −signal.
int with_child(const std::function<int()>& child, const std::function<void(int)>& parent);

/// The message of the InputError that `action` throws; "nothing thrown" else.
std::string input_error(const std::function<void()>& action);

}  // namespace normscope::sample
