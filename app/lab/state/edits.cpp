// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/edits.h"

#include "app/lab/state/change_runs.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/state/outlines.h"
#include "core/recipe/hot_knobs.h"

#include <utility>

namespace normscope::app {

namespace {

constexpr int kUndoLimit = 100;  // an entry may hold the recorded data of runs that were replaced

}  // namespace

Edits::Edits(LabState& state, Outlines& outlines) : state_(state), outlines_(outlines) {
    undo_.setUndoLimit(kUndoLimit);
    QObject::connect(&undo_, &QUndoStack::indexChanged, &state_, [this] { state_.files.edited(); });
}

std::vector<LabRun> Edits::stopRemovedRuns(std::vector<LabRun> before, const Comparison& after) {
    std::vector<std::string> ids;
    for (LabRun& run : before) {
        if (!run.isTraining() || after.find(run.id)) continue;
        ids.push_back(run.id);
        run = stopped(std::move(run));  // its last frame is dropped
    }
    if (ids.empty()) return before;
    state_.engine()->stop(ids);
    state_.training.setPlaying(state_.training.playing() && after.anyTraining());
    return before;
}

std::vector<LabRun> Edits::beforeDrag(std::vector<LabRun> runs) const {
    return state_.drag ? state_.drag->undone(std::move(runs)) : runs;
}

void Edits::commit(Comparison after, const QString& text, std::optional<QString> previous_path) {
    if (state_.drag) {
        // The recipe changed by this edit is the new base of the drag.
        for (const LabRun& run : after.runs)
            if (const LabRun* now = state_.now.find(run.id); now && !same_recipe(now->recipe, run.recipe))
                state_.drag->before[run.id] = run.recipe;
    }
    if (!state_.drag) state_.ghosts = {};
    std::vector<LabRun> before = stopRemovedRuns(state_.now.runs, after);
    const std::string selected_before = selectedId();
    state_.now = std::move(after);
    assertSound(state_.now);
    undo_.push(new ChangeRuns(*this, beforeDrag(std::move(before)), beforeDrag(state_.now.runs), text,
                              selected_before, std::move(previous_path)));
    applyRecipes();
    Q_EMIT state_.viewChanged();
}

void Edits::push(std::vector<LabRun> before, const QString& text) {
    undo_.push(new ChangeRuns(*this, std::move(before), state_.now.runs, text, selectedId()));
}

void Edits::applyRecipes() {
    for (LabRun& run : state_.now.runs) {
        if (!run.committed()) {
            run.live = run.recipe;
        } else {
            // Watchpoints act on the steps to come alone, also of a run that is resumed.
            if (run.isTraining() && run.live.watch != run.recipe.watch)
                state_.engine()->setWatch(run.id, run.recipe.watch);
            run.live.watch = run.recipe.watch;
            if (run.isTraining() && run.needsNewRun() && same_but_hot(run.live, run.recipe)) {
                state_.engine()->setKnobs(run.id, hot_knobs(run.recipe));
                if (run.live.interventions != run.recipe.interventions)
                    state_.engine()->setInterventions(run.id, run.recipe.interventions);
                run.live = run.recipe;
            }
        }
        if (run.committed() && same_recipe(run.recipe, run.live)) {
            run.preview.reset();
            run.rejection.clear();  // a training run is valid
        }
    }
    nameUntrained(state_.now);
    state_.requestExplore();
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
}

const std::string& Edits::selectedId() const {
    return state_.now.selectedRun().id;
}

std::vector<LabRun> Edits::restoreRuns(const std::vector<LabRun>& runs, const std::string& selected) {
    if (!state_.drag) state_.ghosts = {};
    Comparison after = restored(state_.now, runs);
    if (const LabRun* then = after.find(selected); then && !after.find(selectedId()))
        after.selected = static_cast<int>(then - after.runs.data());
    std::vector<LabRun> before = stopRemovedRuns(state_.now.runs, after);
    state_.now = std::move(after);
    assertSound(state_.now);
    if (state_.drag)
        for (const LabRun& run : state_.now.runs) state_.drag->before[run.id] = run.recipe;
    applyRecipes();
    Q_EMIT state_.viewChanged();
    outlines_.read();
    return before;
}

QString Edits::exchangeSessionPath(const QString& path) {
    QString before = std::exchange(state_.session_path, path);
    if (before != path) Q_EMIT state_.sessionPathChanged();
    return before;
}

}  // namespace normscope::app
