// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// The run in a recording: finished, still growing in another process, or that of a killed process (then
/// everything it had flushed is there, and the state is interrupted). The file is not changed. Losses of a
/// damaged file are reported in `warnings`, one line each. Throws InputError for anything but a readable
/// recording. A recording that this process is writing cannot be read; its RunData is in memory anyway.
RunData recover(const std::string& recording_path, std::vector<std::string>* warnings = nullptr);

/// Drops everything after a step: a run resumed from a checkpoint of that step measures it again.
void cut_after(RunData& run, std::int64_t step);

}  // namespace normscope
