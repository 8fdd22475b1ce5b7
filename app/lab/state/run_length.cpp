// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/run_length.h"

#include "core/run/checkpoints/replay.h"

#include <algorithm>
#include <string>

namespace normscope::app {

int furtherSteps(const LabRun& run) {
    const int planned = run.live.train.steps;
    const RunState state = run.data->outcome.state;
    const bool ended =
        run.trained() && !run.data->unread && !run.fixed() && run.lastStep() + 1 >= planned &&
        (state == RunState::Finished || state == RunState::Stalled || state == RunState::Collapsed);
    const bool kept =
        std::any_of(run.checkpoints.begin(), run.checkpoints.end(),
                    [&](const KnownCheckpoint& known) { return known.step == run.lastStep() + 1; });
    if (!ended || !kept || run.needsNewRun()) return 0;
    for (const RunEvent& event : run.data->events)
        if (event.kind == kLengthEvent) return static_cast<int>(event.step) + 1;  // the length it had first
    return planned;
}

void planSteps(LabRun& run, RunData& history, int total) {
    Recipe recorded = history.recipe.value("run " + run.id);
    const int before = recorded.train.steps;
    recorded.train.steps = run.recipe.train.steps = run.live.train.steps = total;
    history.recipe = recorded;
    const std::int64_t last = history.steps.rows() > 0 ? history.steps.step.back() : -1;
    history.events.push_back({last, kLengthEvent, std::to_string(before) + " → " + std::to_string(total)});
}

void planRecordedSteps(LabRun& run) {
    if (run.trained())
        run.recipe.train.steps = run.live.train.steps = run.data->recipe.value("run " + run.id).train.steps;
}

}  // namespace normscope::app
