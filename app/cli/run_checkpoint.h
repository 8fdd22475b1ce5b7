// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/checkpoints/run_checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace normscope::app {

/// "RUN.h5@120" -> "RUN.h5", 120; without a step, or where the whole is a file's name, just the path.
std::pair<std::string, std::optional<std::int64_t>> split_step(const std::string& text);

/// The newest checkpoint, in the session or next to the recording. `run` is needed where the session holds
/// several. InputError names the runs there are.
RunCheckpoint newest_run_checkpoint(const std::string& path, const std::string& run);

}  // namespace normscope::app
