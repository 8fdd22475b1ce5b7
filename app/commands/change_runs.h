// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/lab_run.h"

#include <QUndoCommand>

namespace normscope::app {

class Lab;

/// The one kind of undo entry: the comparison before and after. A knob's whole drag, a switched norm, a
/// preset, or an added, pinned or restarted run.
class ChangeRuns : public QUndoCommand {
  public:
    /// `after` is already applied: the first redo() does nothing.
    ChangeRuns(Lab& lab, std::vector<LabRun> before, std::vector<LabRun> after, const QString& text);

    void undo() override;
    void redo() override;

  private:
    Lab& lab_;
    std::vector<LabRun> before_, after_;
    bool in_force_ = true;
};

}  // namespace normscope::app
