// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

#include <cstdint>
#include <string>

namespace normscope::app {

/// Its newest checkpoint at or before a step; null: none.
const KnownCheckpoint* nearestCheckpoint(const LabRun& run, std::int64_t step);

/// replay_obstacle() of a replay from this checkpoint (null: from step 0) to a step, before the checkpoint is
/// read: whether events of its own step precede it is only known from the checkpoint.
std::string replayObstacle(const RunData& run, const KnownCheckpoint* from, std::int64_t step);

/// The header of a run for a replay: identity, recipe and events.
RunData replayHeader(const LabRun& run);

}  // namespace normscope::app
