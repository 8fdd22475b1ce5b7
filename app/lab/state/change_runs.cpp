// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/change_runs.h"

#include "app/lab/state/edits.h"

#include <variant>

namespace normscope::app {

namespace {

/// Undo covers knobs and figures: weights in memory stay with the current runs (restoreRuns() takes them from
/// the run of the same id); otherwise every entry would keep tens of megabytes.
std::vector<LabRun> withoutWeights(std::vector<LabRun> runs) {
    for (LabRun& run : runs)
        std::erase_if(run.checkpoints, [](const KnownCheckpoint& known) {
            return std::holds_alternative<std::shared_ptr<const Checkpoint>>(known.source.from);
        });
    return runs;
}

}  // namespace

ChangeRuns::ChangeRuns(Edits& edits, std::vector<LabRun> before, std::vector<LabRun> after,
                       const QString& text, std::string selected, std::optional<QString> previous_path)
    : QUndoCommand(text),
      edits_(edits),
      before_(withoutWeights(std::move(before))),
      after_(withoutWeights(std::move(after))),
      selected_before_(std::move(selected)),
      other_path_(std::move(previous_path)) {}

/// Runs of the one side may leave the comparison and be trained until then: they come back as they leave.
void ChangeRuns::undo() {
    selected_after_ = edits_.selectedId();
    after_ =
        withoutWeights(withLaterRecordings(std::move(after_), edits_.restoreRuns(before_, selected_before_)));
    if (other_path_) other_path_ = edits_.exchangeSessionPath(*other_path_);
}

void ChangeRuns::redo() {
    if (std::exchange(in_force_, false)) return;
    selected_before_ = edits_.selectedId();
    before_ =
        withoutWeights(withLaterRecordings(std::move(before_), edits_.restoreRuns(after_, selected_after_)));
    if (other_path_) other_path_ = edits_.exchangeSessionPath(*other_path_);
}

}  // namespace normscope::app
