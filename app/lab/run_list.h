// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "core/recipe/recipe.h"

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <string>
#include <vector>

namespace normscope::app {

class Edits;
class LabState;

/// The runs side by side: which one is selected, which there are, their names and whole recipes. Every change
/// of them is an entry of the undo stack. Interface thread.
class RunList : public QObject {
    Q_OBJECT
  public:
    RunList(LabState& state, Edits& edits);

    void select(int index);
    void setLinked(bool linked);
    QUndoStack* undoStack();

    /// Replaces the comparison by these untrained runs; undoable. `names` as for rename(), may be fewer.
    void compare(const std::vector<Recipe>& recipes, const QString& text,
                 const std::vector<std::string>& names = {});
    void add(const Recipe& recipe);
    /// For each run that is not a reference, runs of its recipe with the next `count` free seeds; undoable.
    void addSeeds(int count);
    /// Adds a run that starts from another program's model (safetensors, llm.c or llama2.c) and selects it.
    void importModel(const QString& path);
    void remove(int index);
    /// Names a run; an empty name gives it back the one after its recipe. Undoable.
    void rename(int index, const QString& name);
    /// Replaces the selected run by a preset.
    void loadPreset(const QString& name);
    /// Replaces the selected run by a recipe (completed and validated); a trained run shows it as a preview,
    /// until it is started as a new run.
    void useRecipe(const Recipe& recipe, const QString& text);
    /// Adds an unchanging copy of the selected run.
    void pinSelected();

  private:
    void applyImported(quint64 token, const QString& path, const ImportedModelPtr& model);

    LabState& state_;
    Edits& edits_;
};

}  // namespace normscope::app
