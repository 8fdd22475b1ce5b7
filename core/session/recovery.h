// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// The run in a recording: finished, still growing in another process, or left behind by one that was killed
/// (then everything that it had flushed is there, and the state is interrupted). The file is not changed.
/// What a damaged file lost is told in `warnings`, one line each. Throws InputError for anything but a
/// readable recording. A recording that this same process still writes cannot be read; its RunData is in
/// memory anyway.
RunData recover(const std::string& recording_path, std::vector<std::string>* warnings = nullptr);

/// Drops everything after a step: what a run that resumes from a checkpoint of that step will measure again.
void cut_after(RunData& run, std::int64_t step);

}  // namespace normscope
