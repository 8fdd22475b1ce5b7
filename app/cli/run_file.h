// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/checkpoint.h"
#include "core/session/run_data.h"

#include <optional>
#include <string>

namespace normscope::app {

/// Throws InputError where `path` holds something that a new run must not replace: a file that is not ours, a
/// session of several runs, a run that another process is recording.
void require_replaceable(const std::string& path);

/// Where a stopped run goes on.
struct Resumption {
    RunData history;                       ///< cut before the checkpoint's step, whole where the run ended
    std::optional<Checkpoint> checkpoint;  ///< none where the run stopped before its first
    std::string view_json;
    bool ended = false;  ///< history.outcome is final
    bool saved = false;  ///< and the file is a session with its last checkpoint already
};

/// Turns the recording of a run that ended into a session with its last checkpoint (none: without) and, where
/// the run started from given weights, the one of step 0, in its place, and removes the live checkpoints.
void save_as_session(const std::string& path, const std::string& view_json, std::optional<Checkpoint> last);

/// What --resume finds at `path`: nothing where there is no file. Throws InputError when its recipe is
/// another one, naming the first key that differs.
std::optional<Resumption> find_resumption(const std::string& path, const Recipe& recipe);

}  // namespace normscope::app
