// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/forks.h"

#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/state/replay_points.h"
#include "app/lab/state/run_length.h"
#include "app/lab/training_control.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/checkpoints/replay.h"
#include "core/session/recording/recovery.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

/// A copy of the run that is not recorded anywhere yet.
LabRun branchOf(LabRun run, const std::string& name, std::int64_t step) {
    run.training = 0;
    run.recording.clear();
    run.session.clear();
    run.data = std::make_shared<RunData>(*run.data);
    run.data->name = name + ", fork at " + std::to_string(step);
    return run;
}

}  // namespace

Forks::Forks(LabState& state, Edits& edits, TrainingControl& training)
    : state_(state),
      edits_(edits),
      training_(training),
      reading_(state.requests, "fork", Pending<Fork>::Replies::OfEach),
      replaying_(state.requests, "branch", Pending<Fork>::Replies::OfEach, PendingKind::Owner::Session,
                 [this](Fork&) { state_.engine()->cancelBranches(); }) {
    state_.onReply(state_.io(), &IoWorker::checkpointLoaded, this, &Forks::applyCheckpoint);
    state_.onReply(state_.engine(), &Engine::branching, this, &Forks::applyBranching);
    state_.onReply(state_.engine(), &Engine::branched, this, &Forks::applyBranched);
}

/// At the end of a run its last state, if there is a checkpoint of it and it is not one that diverged.
std::int64_t Forks::wantedStep(const LabRun& run) const {
    const std::int64_t last = run.lastStep(), shown = state_.shown.step;
    if (shown < last) return std::max<std::int64_t>(shown, 0);
    const bool sound = run.data->outcome.state != RunState::Diverged && !run.unfinished();
    const bool kept = std::any_of(run.checkpoints.begin(), run.checkpoints.end(),
                                  [&](const KnownCheckpoint& known) { return known.step == last + 1; });
    return sound && kept ? last + 1 : last;
}

bool Forks::atEnd() const {
    const LabRun& run = state_.now.selectedRun();
    return run.trained() && !run.data->unread && wantedStep(run) >= run.live.train.steps;
}

Forks::Point Forks::point(const LabRun& run) const {
    const std::int64_t step = wantedStep(run);
    const KnownCheckpoint* from = nearestCheckpoint(run, step);
    if (from && from->step == step) return {step, from};
    const std::string obstacle = replayObstacle(*run.data, from, step);
    if (obstacle.empty()) return {step, from};
    if (!from) return {step, nullptr, {}, obstacle};
    return {from->step, from, obstacle};
}

QString Forks::obstacle() const {
    const LabRun& run = state_.now.selectedRun();
    const QString name = QString::fromStdString(run.data->name);
    if (run.data->unread) return notReadYet(state_.now);
    if (!run.trained()) return tr("%1 is not trained yet: a fork begins at one of its steps").arg(name);
    if (!same_but_hot(run.live, run.recipe))
        return tr("A fork keeps the stack: only Δt, τ, ε, learning rate, weight decay and clip may differ");
    if (const Point fork = point(run); !fork.obstacle.empty())
        return tr("%1 cannot be forked at step %2: %3")
            .arg(name)
            .arg(fork.step)
            .arg(QString::fromStdString(fork.obstacle));
    return {};
}

void Forks::forkSelected(int more_steps) {
    if (running()) return cancel();
    if (const QString why_not = obstacle(); !why_not.isEmpty()) {
        Q_EMIT state_.problem(why_not);
        return;
    }
    const LabRun& run = state_.now.selectedRun();
    const Point from = point(run);
    if (!from.remark.empty())
        Q_EMIT state_.problem(tr("%1 is forked at its checkpoint of step %2: %3")
                                  .arg(QString::fromStdString(run.data->name))
                                  .arg(from.step)
                                  .arg(QString::fromStdString(from.remark)));
    const int steps = more_steps > 0 ? more_steps : run.live.train.steps;
    start(run, branchOf(run, default_run_name(run.recipe), from.step), from, atEnd() ? steps : 0);
}

std::optional<std::int64_t> Forks::branchStep(const LabRun& run, const Recipe& recipe) const {
    const std::int64_t shown = state_.shown.step;
    if (!run.trained() || run.data->unread || shown <= 0 || shown >= run.lastStep()) return {};
    if (!same_but_hot(run.live, recipe)) return {};
    const Point from = point(run);
    if (!from.obstacle.empty() || from.step != shown) return {};
    return shown;
}

void Forks::forkAs(const LabRun& run, const Recipe& recipe, const std::string& name) {
    if (!branchStep(run, recipe)) return;
    const Point from = point(run);
    LabRun branch = branchOf(run, name, from.step);
    branch.recipe = recipe;
    start(run, std::move(branch), from, 0);
}

void Forks::start(const LabRun& parent, LabRun branch, const Point& from, int more_steps) {
    Fork fork{parent.id, std::move(branch), parent.data->name, from.step, more_steps};
    fork.run.id = state_.newId();
    fork.run.data->id = fork.run.id;
    if (!from.from) return replay(std::move(fork), nullptr);
    const CheckpointSource source = from.from->source;
    const quint64 token = reading_.ask(std::move(fork));
    QMetaObject::invokeMethod(state_.io(),
                              [io = state_.io(), token, source] { io->loadCheckpoint(token, source); });
}

/// Null: unreadable, which was reported.
void Forks::applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint) {
    auto fork = reading_.take(token);
    if (!fork || !checkpoint) return;
    if (checkpoint->step == fork->step)
        begin(std::move(*fork), checkpoint);
    else
        replay(std::move(*fork), checkpoint);
}

void Forks::replay(Fork fork, const CheckpointPtr& from) {
    BranchRequest request{0, {replayHeader(fork.run), from, fork.step, {}}};
    request.token = replaying_.ask(std::move(fork));
    state_.engine()->branch(std::move(request));
    Q_EMIT changed();
}

void Forks::applyBranching(quint64 token, qint64 steps_done) {
    Fork* fork = replaying_.find(token);
    if (!fork) return;
    fork->steps_done = std::max<std::int64_t>(fork->steps_done, steps_done);
    Q_EMIT changed();
}

void Forks::applyBranched(quint64 token, const CheckpointPtr& checkpoint, const QString& failed) {
    auto fork = replaying_.take(token);
    if (!fork) return;
    if (!failed.isEmpty()) Q_EMIT state_.problem(failed);
    if (checkpoint) begin(std::move(*fork), checkpoint);
    Q_EMIT changed();
}

void Forks::begin(Fork&& fork, const CheckpointPtr& checkpoint) {
    LabRun& run = fork.run;
    auto history = std::make_shared<RunData>(*run.data);
    cut_after(*history, checkpoint->step - 1);
    history->outcome = {RunState::Running, -1, "", -1};
    if (checkpoint->step > 0)
        history->events.push_back(
            {checkpoint->step - 1, "fork",
             "of " + fork.parent_name + " at step " + std::to_string(checkpoint->step)});
    const Recipe moved = run.recipe;
    if (fork.more_steps > 0) planSteps(run, *history, static_cast<int>(checkpoint->step) + fork.more_steps);
    run.data = history;
    run.preview.reset();
    run.pinned = false;
    run.followed.reset();
    run.checkpoints = {{checkpoint->step, {run.id, checkpoint}}};
    RunPlan continued = planOf(run);
    continued.recipe = history->recipe.value("run " + run.id);
    continued.recipe.watch = run.recipe.watch;
    continued.recipe.interventions = run.recipe.interventions;
    continued.history = std::make_shared<const RunData>(*history);
    continued.start = checkpoint;
    continued.knobs = hot_knobs(run.recipe);
    run.live = run.recipe;
    Comparison after = state_.now;
    // Moved knobs were applied to the fork; the parent keeps those moved since.
    if (LabRun* other = after.find(fork.parent); other && same_recipe(other->recipe, moved))
        other->recipe = other->live;
    after.runs.push_back(std::move(run));
    edits_.commit(std::move(after), tr("fork"));
    training_.begin({continued});
}

bool Forks::running() const {
    return replaying_.waiting();
}

void Forks::cancel() {
    if (!running()) return;
    replaying_.drop();
    Q_EMIT changed();
}

QString Forks::status() const {
    const Fork* fork = replaying_.newest();
    if (!fork) return {};
    return tr("replaying %1\nto step %2%3 …")
        .arg(QString::fromStdString(fork->parent_name))
        .arg(fork->step)
        .arg(fork->steps_done >= 0 ? tr(", at %1").arg(fork->steps_done) : QString());
}

}  // namespace normscope::app
