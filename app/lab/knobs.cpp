// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/knobs.h"

#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "core/run/complete.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/recipe_diff.h"

#include <utility>

namespace normscope::app {

Knobs::Knobs(LabState& state, Edits& edits) : state_(state), edits_(edits) {}

bool Knobs::dragging() const {
    return state_.drag.has_value();
}

void Knobs::beginDrag() {
    if (state_.drag) return;
    state_.drag.emplace();
    state_.ghosts = {};
    for (const LabRun& run : state_.now.runs) {
        state_.drag->before[run.id] = run.recipe;
        if (!run.committed()) state_.ghosts.data[run.id] = run.data;
    }
    Q_EMIT draggingChanged(true);
}

void Knobs::dragKey(KeyRef key, const FieldValue& value) {
    beginDrag();
    Drag& drag = *state_.drag;
    if (drag.key != key) {
        drag.key = key;
        drag.targets = targetsOf(state_.now, key);
    }
    for (const LabRun& run : state_.now.runs) drag.before.try_emplace(run.id, run.recipe);
    try {
        Comparison before = state_.now;
        for (LabRun& run : before.runs)
            if (drag.targets.count(run.id)) run.recipe = drag.before.at(run.id);
        state_.now = withKey(std::move(before), drag.targets, key, value);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
        return;
    }
    nameGhosts(key);
    edits_.applyRecipes();
}

/// "Δt 1": the old value, of the first run that the knob changes.
void Knobs::nameGhosts(KeyRef key) {
    QString& name = state_.ghosts.name;
    if (!name.isEmpty()) return;
    for (const LabRun& run : state_.now.runs) {
        if (!state_.drag->targets.count(run.id)) continue;
        for (const auto& changed : widgets::recipeDifferences(state_.drag->before.at(run.id), run.recipe))
            if (changed.key == key) name = changed.label + u' ' + changed.base;
        if (!name.isEmpty()) return;
    }
}

void Knobs::commitKey(KeyRef key, const FieldValue& value) {
    dragKey(key, value);
    std::vector<LabRun> before = state_.now.runs;
    if (state_.drag) before = state_.drag->undone(std::move(before));
    state_.drag.reset();
    bool changed = false;
    for (std::size_t i = 0; i < before.size(); ++i)
        changed |= !same_recipe(before[i].recipe, state_.now.runs[i].recipe);
    if (changed) {
        const auto* real = std::get_if<double>(&value);
        const QString shown = real ? QString::number(*real, 'g', 4) : widgets::keyText(value);
        edits_.push(std::move(before), QString::fromStdString(key->last_part()) + QLatin1Char(' ') + shown);
    } else {
        state_.ghosts = {};  // else the old curves stay until the next edit
    }
    Q_EMIT draggingChanged(false);
    Q_EMIT state_.viewChanged();
}

void Knobs::commitKeyOf(int run, KeyRef key, const FieldValue& value) {
    state_.selectRun(run);
    beginDrag();
    const LabRun& selected = state_.now.selectedRun();
    state_.drag->key = key;
    state_.drag->targets = seedsOf(state_.now, selected.id);
    if (selected.fixed()) state_.drag->targets.clear();
    commitKey(key, value);
}

void Knobs::abandonDrag() {
    if (std::exchange(state_.drag, std::nullopt)) Q_EMIT draggingChanged(false);
}

void Knobs::setNorm(int layer, Sublayer kind, widgets::NormPlace place, bool on, bool all_layers) {
    Comparison after = state_.now;
    StackSpec& stack = after.runs[static_cast<std::size_t>(after.selected)].recipe.stack;
    stack = widgets::withNorm(stack, layer, kind, place, on, all_layers);
    const QString where = all_layers ? tr("all layers") : tr("layer %1").arg(layer + 1);
    edits_.commit(std::move(after),
                  tr("norm %1 %2 of %3, %4")
                      .arg(QLatin1String(widgets::normPlaceName(place)), on ? tr("on") : tr("off"),
                           QLatin1String(sublayer_name(kind)), where));
}

void Knobs::setLayers(const std::vector<LayerOverride>& layers, const QString& text) {
    Comparison after = state_.now;
    after.runs[static_cast<std::size_t>(after.selected)].recipe.stack.layers = layers;
    edits_.commit(std::move(after), text);
}

/// One key that is a list, of the runs that the knobs act on; nothing where one of them cannot have it.
void Knobs::commitList(KeyRef key, const std::function<Recipe(const Recipe&)>& changed, const QString& text) {
    try {
        Comparison after = state_.now;
        const RunIds targets = targetsOf(state_.now, key);
        if (targets.empty())
            return Q_EMIT state_.problem(tr("A reference is not trained: select another run"));
        for (const std::string& id : targets) {
            Recipe recipe = changed(after.find(id)->recipe);
            Recipe checked = recipe;
            complete_without_data(checked);
            after = withKeyOf(std::move(after), {id}, key, recipe);
        }
        edits_.commit(std::move(after), text);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
}

void Knobs::setWatch(const std::vector<WatchSpec>& watch) {
    commitList(
        "watch",
        [&](Recipe recipe) {
            recipe.watch = watch;
            return recipe;
        },
        tr("watch %1").arg(QString::fromStdString(watch_text(watch))));
}

void Knobs::setInterventions(const std::vector<InterventionSpec>& list) {
    commitList(
        "interventions",
        [&](Recipe recipe) {
            recipe.interventions = list;
            return recipe;
        },
        tr("interventions %1").arg(QString::fromStdString(interventions_text(list))));
}

void Knobs::setProbes(std::optional<ProbesPreset> preset, const std::optional<PlaceSelection>& only) {
    QString text = preset ? tr("probes %1").arg(QLatin1String(word_of(*preset))) : tr("measured places");
    if (only && !only->everything()) text += tr(", only %1").arg(QString::fromStdString(only->text()));
    commitList(
        "probes",
        [&](Recipe recipe) {
            Recipe completed = recipe;
            complete_without_data(completed);
            recipe.probes = probes_with(completed, preset, only);
            return recipe;
        },
        text);
}

void Knobs::resetKey(KeyRef key, const Recipe& from) {
    try {
        edits_.commit(withKeyOf(state_.now, targetsOf(state_.now, key), key, from),
                      tr("reset %1").arg(QString::fromStdString(key->last_part())));
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
}

void Knobs::setRecipes(const std::map<std::string, RunKnobs>& knobs) {
    for (const auto& [id, k] : knobs)
        if (LabRun* run = state_.now.find(id)) {
            run->recipe = k.recipe;
            run->live = k.live;
            run->pinned = k.pinned;
            run->given_name = k.name;
        }
    nameUntrained(state_.now);
    if (state_.now.changesPending()) state_.requestExplore();
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
}

}  // namespace normscope::app
