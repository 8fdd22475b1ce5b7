// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"
#include "core/run/probes_preset.h"
#include "widgets/figures/stack/norm_override.h"

#include <QObject>
#include <QString>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

class Edits;
class LabState;

/// The knobs of a run from a session's view.
struct RunKnobs {
    Recipe recipe, live;
    bool pinned = false;
    std::string name = {};  ///< given; empty: named after its recipe
};

/// The knobs: converts what is set at them to recipes. A drag is any number of dragKey() and one commitKey();
/// it makes one undo entry. Interface thread.
class Knobs : public QObject {
    Q_OBJECT
  public:
    Knobs(LabState& state, Edits& edits);

    void beginDrag();
    void dragKey(KeyRef key, const FieldValue& value);
    void commitKey(KeyRef key, const FieldValue& value);
    /// The key of this run and its other seeds alone, whatever is linked; selects it.
    void commitKeyOf(int run, KeyRef key, const FieldValue& value);
    bool dragging() const;
    /// Ends a drag without an edit: its runs have left.
    void abandonDrag();

    void setNorm(int layer, Sublayer kind, widgets::NormPlace place, bool on, bool all_layers);
    /// Sets the selected run's overrides; `text` names the change in the undo list.
    void setLayers(const std::vector<LayerOverride>& layers, const QString& text);
    /// Sets the watchpoints of the runs that the knobs act on (targetsOf() of "watch"); no run restarts for
    /// it. Undoable.
    void setWatch(const std::vector<WatchSpec>& watch);
    /// Sets the interventions of the runs that the knobs act on; a run in training follows from its next step
    /// on. Undoable.
    void setInterventions(const std::vector<InterventionSpec>& list);
    /// Sets the probes of the runs that the knobs act on (targetsOf() of "probes") to a preset (nullopt:
    /// those that each has) that measure these places (nullopt: those that each measures); a trained run asks
    /// for a new run. Undoable.
    void setProbes(std::optional<ProbesPreset> preset, const std::optional<PlaceSelection>& only);
    /// Sets one key to another recipe's value, in the runs that its knob acts on.
    void resetKey(KeyRef key, const Recipe& from);
    /// Sets the knobs of runs from a session's view, by id; unknown ids are ignored. Not an edit.
    void setRecipes(const std::map<std::string, RunKnobs>& knobs);

  Q_SIGNALS:
    void draggingChanged(bool dragging);

  private:
    void commitList(KeyRef key, const std::function<Recipe(const Recipe&)>& changed, const QString& text);
    void nameGhosts(KeyRef key);

    LabState& state_;
    Edits& edits_;
};

}  // namespace normscope::app
