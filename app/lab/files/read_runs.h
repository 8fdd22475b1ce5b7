// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"

#include <QList>
#include <QStringList>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// The runs of a session as it was saved. Throws InputError where there is none, or one whose recipe cannot
/// be read.
std::vector<LabRun> runsOf(const OpenedSession& opened);

/// Runs read from their recordings, and the plans of those with a checkpoint.
struct RecoveredRuns {
    std::vector<LabRun> runs;
    std::vector<RunPlan> plans;
    /// The whole data of the runs with plans, which have their data up to their checkpoints; by id.
    std::map<std::string, std::shared_ptr<RunData>> before;
    QStringList problems;
};
RecoveredRuns runsOf(const QList<RecoveredRun>& recovered, bool continue_training);

}  // namespace normscope::app
