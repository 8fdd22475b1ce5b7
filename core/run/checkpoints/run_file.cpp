// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/run_file.h"

#include "core/base/error.h"
#include "core/recipe/keys.h"
#include "core/run/checkpoints/resume.h"
#include "core/session/describe.h"
#include "core/session/recording/recovery.h"
#include "core/session/session.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace normscope {

namespace fs = std::filesystem;

bool is_recorded(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error) && !fs::is_empty(path, error);
}

void require_same_recipe(const RunRecipe& there, const Recipe& recipe, const std::string& path,
                         const std::string& allowed) {
    // An earlier version may have planned other steps, or none: they are not part of the user's recipe.
    // Watchpoints change nothing of a run, and a run may be resumed under others.
    const auto values_of = [](const Recipe& r) {
        Recipe compared = without_planned_steps(r);
        compared.watch.clear();
        return key_values(compared);
    };
    const auto theirs = values_of(there.value(path)), ours = values_of(recipe);
    const auto find = [](const std::vector<KeyedValue>& values, const std::string& key) {
        return std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == key; });
    };
    const auto reject = [&](const std::string& key, const std::string& what) {
        throw InputError(path + ": " + key, what, allowed);
    };
    for (const auto& [key, value] : ours) {
        const auto recorded = find(theirs, key);
        if (recorded == theirs.end()) reject(key, value_text(value) + " is not in the recorded recipe");
        if (recorded->second != value)
            reject(key, value_text(value) + " differs from the recorded " + value_text(recorded->second));
    }
    for (const auto& [key, value] : theirs)
        if (find(ours, key) == ours.end())
            reject(key, "the recorded " + value_text(value) + " is not in this recipe");
}

void require_free_for_run(const std::string& path) {
    if (!is_recorded(path)) return;
    const auto runs = summarize_session(path);
    if (runs.size() > 1)
        throw InputError(path,
                         "is a session of " + std::to_string(runs.size()) + " runs and is not overwritten",
                         "a new file or a single run");
    if (!runs.empty() && runs[0].outcome.state == RunState::Running)
        throw InputError(path, "is being recorded by another process", "a file of its own for each run");
}

RunData save_as_session(const std::string& path, const std::string& view_json, std::optional<Checkpoint> last,
                        const std::vector<std::shared_ptr<const Checkpoint>>& kept) {
    const FileIdentity recorded = identity_of(path);
    RunData run = recover(path);
    std::vector<CheckpointSource> checkpoints;
    std::set<std::int64_t> steps;
    if (last) steps.insert(last->step);
    const auto add = [&](std::shared_ptr<const Checkpoint> checkpoint) {
        if (steps.insert(checkpoint->step).second) checkpoints.push_back({run.id, std::move(checkpoint)});
    };
    if (auto start = CheckpointPair(path).start()) add(std::make_shared<const Checkpoint>(std::move(*start)));
    for (const auto& checkpoint : kept) add(checkpoint);
    if (last) checkpoints.push_back({run.id, std::make_shared<const Checkpoint>(std::move(*last))});
    save_session(path, std::vector<const RunData*>{&run}, view_json, checkpoints, recorded);
    CheckpointPair(path).remove();
    return run;
}

std::optional<Resumption> find_resumption(const std::string& path, const Recipe& recipe) {
    if (!is_recorded(path)) return std::nullopt;
    Session session = open_session(path);
    if (session.runs.size() != 1)
        throw InputError(path, "holds " + std::to_string(session.runs.size()) + " runs",
                         "--resume on a single run");
    Resumption found{std::move(session.runs[0]), std::nullopt, std::move(session.view_json)};
    require_same_recipe(found.history.recipe, recipe, path);
    const RunState state = found.history.outcome.state;
    const bool final_state = state == RunState::Finished || state == RunState::Stalled ||
                             state == RunState::Collapsed || state == RunState::Diverged;
    found.ended = found.saved = final_state && !session.checkpoints.empty();
    if (found.saved) return found;

    found.checkpoint = resumable_checkpoint(path, found.history);
    for (const EmbeddedCheckpoint& embedded : session.checkpoints)
        if (!found.checkpoint || embedded.step > found.checkpoint->step)
            found.checkpoint = load_checkpoint(embedded.session_path, embedded.run_id, embedded.step);
    if (found.checkpoint) require_same_recipe(found.checkpoint->recipe, recipe, path);
    // Killed after the last step and before the last checkpoint: the steps in between are computed again.
    const auto& steps = found.history.steps.step;
    found.ended =
        final_state && (!found.checkpoint || steps.empty() || found.checkpoint->step >= steps.back());
    if (found.checkpoint && !found.ended) cut_after(found.history, found.checkpoint->step - 1);
    return found;
}

}  // namespace normscope
