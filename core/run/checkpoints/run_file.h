// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/checkpoint.h"
#include "core/session/run_data.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Throws InputError where `path` holds something that a new run must not replace: a file that is not ours, a
/// session of several runs, a run that is being recorded.
void require_free_for_run(const std::string& path);

/// Whether there is a file at `path` that is not empty.
bool is_recorded(const std::string& path);

/// Throws InputError naming the first key in which the recorded recipe differs; `path` begins the message,
/// `allowed` ends it. Planned steps are not compared.
void require_same_recipe(
    const RunRecipe& recorded, const Recipe& recipe, const std::string& path,
    const std::string& allowed = "--resume with the run's own recipe, or a new run without it");

/// The state from which a stopped run resumes.
struct Resumption {
    RunData history;                       ///< cut before the checkpoint's step, complete if the run ended
    std::optional<Checkpoint> checkpoint;  ///< nullopt if the run stopped before its first
    std::string view_json;
    bool ended = false;  ///< history.outcome is final
    bool saved = false;  ///< and the file is a session with its last checkpoint already
};

/// Replaces the recording of an ended run by a session with its last checkpoint (nullopt: without), those
/// `kept` before it and, where the run started from given weights, that of step 0; removes the live
/// checkpoints.
RunData save_as_session(const std::string& path, const std::string& view_json, std::optional<Checkpoint> last,
                        const std::vector<std::shared_ptr<const Checkpoint>>& kept = {});

/// What --resume finds at `path`; nullopt if there is no file. Throws InputError naming the first key in
/// which the recipes differ.
std::optional<Resumption> find_resumption(const std::string& path, const Recipe& recipe);

}  // namespace normscope
