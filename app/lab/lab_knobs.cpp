// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory that converts knobs to recipes, and recipes to measurement requests.
#include "app/lab/change_runs.h"
#include "app/lab/lab.h"
#include "core/recipe/hot_knobs.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/recipe_diff.h"

namespace normscope::app {

void Lab::beginDrag() {
    if (drag_) return;
    drag_.emplace();
    clearGhosts();
    for (const LabRun& run : now_.runs) {
        drag_->before[run.id] = run.recipe;
        if (!run.committed()) ghosts_[run.id] = run.data;
    }
    Q_EMIT draggingChanged(true);
}

void Lab::dragKey(KeyRef key, const FieldValue& value) {
    beginDrag();
    if (drag_->key != key) {
        drag_->key = key;
        drag_->targets = targetsOf(now_, key);
    }
    for (const LabRun& run : now_.runs) drag_->before.try_emplace(run.id, run.recipe);
    try {
        Comparison before = now_;
        for (LabRun& run : before.runs)
            if (drag_->targets.count(run.id)) run.recipe = drag_->before.at(run.id);
        now_ = withKey(std::move(before), drag_->targets, key, value);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    nameGhosts(key);
    applyRecipes();
}

/// "Δt 1": the old value, of the first run that the knob changes.
void Lab::nameGhosts(KeyRef key) {
    if (!ghost_name_.isEmpty()) return;
    for (const LabRun& run : now_.runs) {
        if (!drag_->targets.count(run.id)) continue;
        for (const auto& changed : widgets::recipeDifferences(drag_->before.at(run.id), run.recipe))
            if (changed.key == key) ghost_name_ = changed.label + u' ' + changed.base;
        if (!ghost_name_.isEmpty()) return;
    }
}

void Lab::clearGhosts() {
    ghosts_.clear();
    ghost_name_.clear();
}

void Lab::commitKey(KeyRef key, const FieldValue& value) {
    dragKey(key, value);
    const std::vector<LabRun> before = beforeDrag(now_.runs);
    drag_.reset();
    bool changed = false;
    for (std::size_t i = 0; i < before.size(); ++i)
        changed |= !same_recipe(before[i].recipe, now_.runs[i].recipe);
    if (changed) {
        const auto* real = std::get_if<double>(&value);
        const QString shown = real ? QString::number(*real, 'g', 4) : widgets::keyText(value);
        undo_.push(new ChangeRuns(*this, before, now_.runs,
                                  QString::fromStdString(key->last_part()) + QLatin1Char(' ') + shown,
                                  selected().id));
    } else {
        clearGhosts();  // else the old curves stay until the next edit
    }
    Q_EMIT draggingChanged(false);
    Q_EMIT viewChanged();
}

void Lab::commitKeyOf(int run, KeyRef key, const FieldValue& value) {
    selectRun(run);
    beginDrag();
    drag_->key = key;
    drag_->targets = seedsOf(now_, selected().id);
    if (selected().pinned) drag_->targets.clear();
    commitKey(key, value);
}

/// The runs with their recipes before the drag.
std::vector<LabRun> Lab::beforeDrag(std::vector<LabRun> runs) const {
    if (!drag_) return runs;
    for (LabRun& run : runs)
        if (const auto recipe = drag_->before.find(run.id); recipe != drag_->before.end())
            run.recipe = recipe->second;
    return runs;
}

void Lab::setNorm(int layer, Sublayer kind, widgets::NormPlace place, bool on, bool all_layers) {
    Comparison after = now_;
    StackSpec& stack = after.runs[static_cast<std::size_t>(after.selected)].recipe.stack;
    stack = widgets::withNorm(stack, layer, kind, place, on, all_layers);
    const QString where = all_layers ? tr("all layers") : tr("layer %1").arg(layer + 1);
    commit(std::move(after), tr("norm %1 %2 of %3, %4")
                                 .arg(QLatin1String(widgets::normPlaceName(place)), on ? tr("on") : tr("off"),
                                      QLatin1String(sublayer_name(kind)), where));
}

void Lab::setLayers(const std::vector<LayerOverride>& layers, const QString& text) {
    Comparison after = now_;
    after.runs[static_cast<std::size_t>(after.selected)].recipe.stack.layers = layers;
    commit(std::move(after), text);
}

/// One key that is a list, of the runs that the knobs act on; nothing where one of them cannot have it.
void Lab::commitList(KeyRef key, const std::function<Recipe(const Recipe&)>& changed, const QString& text) {
    try {
        Comparison after = now_;
        const RunIds targets = targetsOf(now_, key);
        if (targets.empty()) return Q_EMIT problem(tr("A reference is not trained: select another run"));
        for (const std::string& id : targets) {
            Recipe recipe = changed(after.find(id)->recipe);
            Recipe checked = recipe;
            complete_without_data(checked);
            after = withKeyOf(std::move(after), {id}, key, recipe);
        }
        commit(std::move(after), text);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void Lab::setWatch(const std::vector<WatchSpec>& watch) {
    commitList(
        "watch",
        [&](Recipe recipe) {
            recipe.watch = watch;
            return recipe;
        },
        tr("watch %1").arg(QString::fromStdString(watch_text(watch))));
}

void Lab::setProbes(std::optional<ProbesPreset> preset, const std::optional<PlaceSelection>& only) {
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

void Lab::renameRun(int index, const QString& name) {
    if (index < 0 || index >= static_cast<int>(now_.runs.size())) return;
    const QString given = name.simplified();
    const LabRun& run = now_.runs[static_cast<std::size_t>(index)];
    if (given == QString::fromStdString(run.data->name) || (given.isEmpty() && run.given_name.empty()))
        return;
    commit(withName(now_, index, given.toStdString()),
           tr("rename %1").arg(QString::fromStdString(run.data->name)));
}

void Lab::resetKey(KeyRef key, const Recipe& from) {
    try {
        commit(withKeyOf(now_, targetsOf(now_, key), key, from),
               tr("reset %1").arg(QString::fromStdString(key->last_part())));
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void Lab::applyRecipes() {
    for (LabRun& run : now_.runs) {
        if (!run.committed()) {
            run.live = run.recipe;
        } else {
            // Watchpoints act on the steps to come alone, also of a run that is resumed.
            if (run.isTraining() && run.live.watch != run.recipe.watch)
                engine_->setWatch(run.id, run.recipe.watch);
            run.live.watch = run.recipe.watch;
            if (run.isTraining() && run.needsNewRun() && same_but_hot(run.live, run.recipe)) {
                engine_->setKnobs(run.id, hot_knobs(run.recipe));
                run.live = run.recipe;
            }
        }
        if (run.committed() && same_recipe(run.recipe, run.live)) {
            run.preview.reset();
            run.rejection.clear();  // a training run is valid
        }
    }
    nameUntrained(now_);
    requestExplore();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

void Lab::requestExplore() {
    auto request = exploration_.request(now_);
    if (!request) return;
    request->dragging = dragging();
    Q_EMIT explorationRequested(request->generation);
    engine_->explore(std::move(*request));
}

void Lab::setVisibleProbes(const std::vector<std::string>& probes) {
    if (exploration_.setProbes(probes, now_)) requestExplore();
}

}  // namespace normscope::app
