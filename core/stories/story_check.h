// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/session/run_data.h"
#include "core/stories/story.h"

#include <string>
#include <vector>

namespace normscope {

/// Whether the data of a run show what a story states. NotYet: the run has not come so far.
enum class StoryVerdict { Holds, NotYet, Fails };

/// A predicate with its values in one line: "Post-LN: gradient_ratio at step 8 is 0.00094, stated < 0.01".
struct StoryFinding {
    StoryVerdict verdict = StoryVerdict::NotYet;
    std::string line;
};

/// `runs`: the data of Story::runs, in their order; null or missing: NotYet. A value that a run which has
/// ended did not record fails. Pure; any thread.
StoryFinding check(const Story& story, const StoryPredicate& predicate,
                   const std::vector<const RunData*>& runs);

/// All predicates of a step: Fails if one fails, else NotYet if one is missing. The line is that of the first
/// with this verdict; NotYet and without a line where the step states nothing.
StoryFinding check(const Story& story, const StoryStep& step, const std::vector<const RunData*>& runs);

/// Trains the runs as the story leads through them, on the CPU and this thread, and checks every step.
/// Returns the steps' findings, in order. A Train action begins the runs that have not begun or whose knobs
/// were moved after they ended; a knob that is moved before a run's end acts on it in training. `shift`:
/// every StoryAction::until is later by so many steps, since the user is not exact.
std::vector<StoryFinding> walk(const Story& story, ThreadPool& pool, std::int64_t shift = 0);

}  // namespace normscope
