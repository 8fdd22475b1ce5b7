// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/change_runs.h"

#include "app/lab.h"

namespace normscope::app {

ChangeRuns::ChangeRuns(Lab& lab, std::vector<LabRun> before, std::vector<LabRun> after, const QString& text)
    : QUndoCommand(text), lab_(lab), before_(std::move(before)), after_(std::move(after)) {}

void ChangeRuns::undo() {
    lab_.restoreRuns(before_);
}

void ChangeRuns::redo() {
    if (!std::exchange(in_force_, false)) lab_.restoreRuns(after_);
}

}  // namespace normscope::app
