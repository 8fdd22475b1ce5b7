// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/state/comparison.h"

#include <QString>
#include <QUndoStack>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

class LabState;
class Outlines;

/// Applies edits of the comparison, each as one undo entry, and what follows from them: runs that leave it
/// stop training, and the engine gets the recipes. Internal to app/lab. Interface thread.
class Edits {
  public:
    Edits(LabState& state, Outlines& outlines);

    QUndoStack& undoStack() { return undo_; }

    /// Applies an edit as one undo entry. Runs that it removes stop training. `previous_path`: of the session
    /// that it leaves.
    void commit(Comparison after, const QString& text, std::optional<QString> previous_path = {});
    /// An undo entry for an edit that is applied already: the runs before it.
    void push(std::vector<LabRun> before, const QString& text);
    /// Recipes were changed: sets what acts at once in runs in training, and asks for measurements.
    void applyRecipes();

    // For ChangeRuns.
    const std::string& selectedId() const;
    /// Returns the runs until then, those in training that leave as stopped ones. `selected` is selected
    /// where the run selected now is not among them.
    std::vector<LabRun> restoreRuns(const std::vector<LabRun>& runs, const std::string& selected);
    /// Sets the path of the session, returns the one until then.
    QString exchangeSessionPath(const QString& path);

  private:
    /// Stops the training of those of these runs that are not in `after`.
    std::vector<LabRun> stopRemovedRuns(std::vector<LabRun> before, const Comparison& after);
    std::vector<LabRun> beforeDrag(std::vector<LabRun> runs) const;

    LabState& state_;
    Outlines& outlines_;
    QUndoStack undo_;
};

}  // namespace normscope::app
