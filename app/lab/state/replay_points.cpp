// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/replay_points.h"

#include "core/run/checkpoints/replay.h"
#include "core/session/run_header.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace normscope::app {

const KnownCheckpoint* nearestCheckpoint(const LabRun& run, std::int64_t step) {
    const KnownCheckpoint* best = nullptr;
    for (const KnownCheckpoint& known : run.checkpoints)
        if (known.step <= step && (!best || known.step > best->step)) best = &known;
    return best;
}

std::string replayObstacle(const RunData& run, const KnownCheckpoint* from, std::int64_t step) {
    if (!from) return replay_obstacle(run.events, nullptr, step);
    if (const auto* memory = std::get_if<std::shared_ptr<const Checkpoint>>(&from->source.from))
        return replay_obstacle(run.events, memory->get(), step);
    Checkpoint unread;
    unread.step = from->step;
    std::vector<RunEvent> later;
    std::copy_if(run.events.begin(), run.events.end(), std::back_inserter(later),
                 [&](const RunEvent& event) { return event.step != from->step; });
    return replay_obstacle(later, &unread, step);
}

RunData replayHeader(const LabRun& run) {
    RunData header = run_header(*run.data);
    header.id = run.id;
    header.events = run.data->events;
    return header;
}

}  // namespace normscope::app
