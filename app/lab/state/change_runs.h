// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

#include <QUndoCommand>
#include <optional>
#include <string>

namespace normscope::app {

class Edits;

/// The one kind of undo entry: the comparison before and after. A knob's whole drag, a switched norm, a
/// preset, or an added, pinned or restarted run.
class ChangeRuns : public QUndoCommand {
  public:
    /// `after` is already applied: the first redo() does nothing.
    /// `selected`: the selected run before it, which undo selects again where the one selected then is gone.
    /// `previous_path`: of the session that this edit left.
    ChangeRuns(Edits& edits, std::vector<LabRun> before, std::vector<LabRun> after, const QString& text,
               std::string selected, std::optional<QString> previous_path = {});

    void undo() override;
    void redo() override;

  private:
    Edits& edits_;
    std::vector<LabRun> before_, after_;
    std::string selected_before_, selected_after_;
    std::optional<QString> other_path_;  ///< the session's path on the side that is not in force
    bool in_force_ = true;
};

}  // namespace normscope::app
