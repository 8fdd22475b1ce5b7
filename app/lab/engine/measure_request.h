// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/checkpoints/replay.h"
#include "core/session/session.h"

#include <QMetaType>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// One run of a request: what to replay, and the source of its checkpoint, if it is not in memory.
struct MeasurePlan {
    ReplayPlan replay;
    std::optional<CheckpointSource> from = {};
    QString failed = {};  ///< why that cannot be read, in one line
};

/// A request to measure steps of trained runs that were not sampled, by replay, one after the other.
struct MeasureRequest {
    std::uint64_t token = 0;  ///< of its replies; a newer request cancels an older one
    std::vector<MeasurePlan> runs;
};
/// A request for the state of a trained run at a step, by replay: a run branches off there.
struct BranchRequest {
    std::uint64_t token = 0;  ///< of its replies
    ReplayPlan replay;        ///< without probes
};
using MeasureRequestPtr = std::shared_ptr<const MeasureRequest>;
using ProbeResultsPtr = std::shared_ptr<const std::vector<ProbeResult>>;

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::MeasureRequestPtr)
Q_DECLARE_METATYPE(normscope::app::ProbeResultsPtr)
