// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory that turns knobs into recipes, recipes into names and requests to measure.
#include "app/commands/change_runs.h"
#include "app/lab/hot_knobs.h"
#include "app/lab/lab.h"
#include "widgets/knobs/recipe_diff.h"
#include "widgets/knobs/recipe_keys.h"

#include <algorithm>

namespace normscope::app {

namespace {

const QString kSchemeKey = QStringLiteral("stack.scheme");
const QString kLayersKey = QStringLiteral("stack.layers");

/// A key and what must follow it for the recipe to stay buildable.
void setKey(Recipe& recipe, const QString& key, const QVariant& value) {
    widgets::setRecipeKey(recipe, key, value);
    if (key.startsWith(QLatin1String("data."))) recipe.stack.vocab = 0;  // the new source says
    if (key == QLatin1String("stack.depth"))
        std::erase_if(recipe.stack.layers,
                      [&](const LayerOverride& o) { return o.index >= recipe.stack.depth; });
}

}  // namespace

void Lab::beginDrag() {
    if (drag_) return;
    drag_.emplace();
    for (const LabRun& run : runs_) drag_->before[run.id] = run.recipe;
    ghosts_.clear();
    for (const LabRun& run : runs_)
        if (!run.trained() && !run.underWay()) ghosts_[run.id] = run.data;
    Q_EMIT draggingChanged(true);
}

/// The runs that a knob moves: the selected one alone where the knobs are not linked, or the runs do not
/// agree.
std::vector<std::size_t> Lab::targetsOf(const QString& key) const {
    const bool own = !linked_ || key == kSchemeKey || key == kLayersKey || differingKeys().contains(key);
    std::vector<std::size_t> targets;
    for (std::size_t i = 0; i < runs_.size(); ++i)
        if (own ? static_cast<int>(i) == selected_run_ : !runs_[i].pinned) targets.push_back(i);
    return targets;
}

void Lab::dragKey(const QString& key, const QVariant& value) {
    beginDrag();
    if (drag_->key != key) {
        drag_->key = key;
        drag_->targets.clear();
        for (const std::size_t i : targetsOf(key)) drag_->targets.insert(runs_[i].id);
    }
    try {
        for (LabRun& run : runs_) {
            if (!drag_->targets.count(run.id)) continue;
            Recipe recipe = drag_->before.try_emplace(run.id, run.recipe).first->second;
            setKey(recipe, key, value);
            run.recipe = std::move(recipe);
        }
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    applyRecipes();
}

void Lab::commitKey(const QString& key, const QVariant& value) {
    dragKey(key, value);
    const std::vector<LabRun> before = beforeDrag(runs_);
    drag_.reset();
    ghosts_.clear();
    bool changed = false;
    for (std::size_t i = 0; i < runs_.size(); ++i) changed |= !sameRecipe(before[i].recipe, runs_[i].recipe);
    if (changed) {
        const QString shown = value.typeId() == QMetaType::Double ? QString::number(value.toDouble(), 'g', 4)
                                                                  : value.toString();
        undo_.push(new ChangeRuns(*this, before, runs_,
                                  key.section(QLatin1Char('.'), -1) + QLatin1Char(' ') + shown));
    }
    Q_EMIT draggingChanged(false);
    Q_EMIT viewChanged();
}

/// The runs with the recipes that those under the drag had before it.
std::vector<LabRun> Lab::beforeDrag(std::vector<LabRun> runs) const {
    if (!drag_) return runs;
    for (LabRun& run : runs)
        if (const auto recipe = drag_->before.find(run.id); recipe != drag_->before.end())
            run.recipe = recipe->second;
    return runs;
}

void Lab::setNorm(int layer, Sublayer kind, widgets::NormPlace place, bool on, bool all_layers) {
    std::vector<LabRun> after = runs_;
    Recipe& recipe = after[static_cast<std::size_t>(selected_run_)].recipe;
    recipe.stack = widgets::withNorm(recipe.stack, layer, kind, place, on, all_layers);
    const QString where = all_layers ? tr("all layers") : tr("layer %1").arg(layer + 1);
    changeRuns(std::move(after),
               tr("norm %1 %2 of %3, %4")
                   .arg(QLatin1String(widgets::normPlaceName(place)), on ? tr("on") : tr("off"),
                        QLatin1String(sublayer_name(kind)), where));
}

void Lab::setLayers(const std::vector<LayerOverride>& layers, const QString& text) {
    std::vector<LabRun> after = runs_;
    after[static_cast<std::size_t>(selected_run_)].recipe.stack.layers = layers;
    changeRuns(std::move(after), text);
}

void Lab::resetKey(const QString& key, const Recipe& from) {
    std::vector<LabRun> after = runs_;
    try {
        for (const std::size_t i : targetsOf(key))
            after[i].recipe = widgets::withKeyOf(after[i].recipe, from, key);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    changeRuns(std::move(after), tr("reset %1").arg(key.section(QLatin1Char('.'), -1)));
}

void Lab::applyRecipes() {
    for (LabRun& run : runs_) {
        const bool committed = run.trained() || run.underWay();
        if (!committed) {
            run.live = run.recipe;
        } else if (run.underWay() && !run.pinned && !sameRecipe(run.recipe, run.live) &&
                   sameButHot(run.live, run.recipe)) {
            engine_->setKnobs(run.id, hotKnobs(run.recipe));
            run.live = run.recipe;
        }
        if (committed && sameRecipe(run.recipe, run.live)) {
            run.preview.reset();
            run.refusal.clear();  // what runs can be built
        }
    }
    nameUntrained();
    requestExplore();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

std::string Lab::nameOf(Recipe recipe) const {
    // What all runs share goes without saying; it would only make every label longer.
    const auto shared = [&](auto value) {
        return runs_.size() > 1 && std::all_of(runs_.begin(), runs_.end(), [&](const LabRun& run) {
                   return value(run.recipe.stack) == value(recipe.stack);
               });
    };
    if (shared([](const StackSpec& s) { return s.residual_step; })) recipe.stack.residual_step = 1;
    if (shared([](const StackSpec& s) { return s.temperature; })) recipe.stack.temperature = 1;
    if (shared([](const StackSpec& s) { return s.gpas.enabled; })) recipe.stack.gpas.enabled = false;
    return default_run_name(recipe);
}

void Lab::nameUntrained() {
    const auto named = [](const LabRun& run) { return run.trained() || run.underWay() || run.pinned; };
    std::set<std::string> taken;
    for (const LabRun& run : runs_)
        if (named(run)) taken.insert(run.data->name);
    for (LabRun& run : runs_) {
        if (named(run)) continue;
        const std::string base = run.weights ? run.weights->name : nameOf(run.recipe);
        std::string name = base;
        for (int n = 2; !taken.insert(name).second; ++n) name = base + " · " + std::to_string(n);
        if (run.data->name == name) continue;
        run.data = std::make_shared<RunData>(*run.data);  // a ghost or an undo entry may hold the old one
        run.data->name = name;
    }
}

RunPlan Lab::plan(const LabRun& run) const {
    return {run.id, run.data->name, run.recipe, nullptr, nullptr, {}, run.weights};
}

void Lab::requestExplore() {
    explore_again_ = first_frame_due_;
    if (first_frame_due_) {
        exact_ = false;
        return;
    }
    ExploreRequest request;
    request.generation = explore_generation_ = ++generation_;
    request.probes = probes_;
    for (const LabRun& run : runs_) {
        const bool committed = run.trained() || run.underWay();
        if (run.pinned || (committed && sameRecipe(run.recipe, run.live))) continue;
        request.runs.push_back(plan(run));
        if (committed) request.runs.back().name = nameOf(run.recipe);
    }
    exact_ = request.runs.empty() || probes_.empty();
    first_frame_due_ = !exact_;
    if (!exact_) engine_->explore(std::move(request));
}

void Lab::setVisibleProbes(const std::vector<std::string>& probes) {
    probes_ = probes;
    const bool missing = std::any_of(runs_.begin(), runs_.end(), [&](const LabRun& run) {
        if (run.trained() || run.underWay() || run.pinned) return false;
        return std::any_of(probes.begin(), probes.end(),
                           [&](const std::string& probe) { return !run.data->probes.count(probe); });
    });
    if (missing) requestExplore();
}

}  // namespace normscope::app
