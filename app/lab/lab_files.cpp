// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory for files: sessions, interrupted recordings, models, forks' checkpoints.
#include "app/lab/files/read_runs.h"
#include "app/lab/lab.h"
#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/complete.h"
#include "core/session/recovery.h"

#include <QFileInfo>

namespace normscope::app {

quint64 Lab::saveSession(const QString& path, const std::string& view_json, bool on_purpose) {
    SaveRequest request = files_.save(now_, path, view_json, dragging(), on_purpose);
    const quint64 token = request.token;
    QMetaObject::invokeMethod(io_.get(),
                              [io = io_.get(), saved = std::move(request)] { io->saveSession(saved); });
    return token;
}

/// Edits and training while the file was written are not in it.
void Lab::applySaved(quint64 token, const QString& path, const FileIdentity& file) {
    auto saved = files_.saved(token, path, file);
    if (!saved) return;
    saved_runs_[path.toStdString()] = std::move(saved->runs);
    if (saved->of_this_session) {
        exchangeSessionPath(path);
        saved->edits_too ? undo_.setClean() : undo_.resetClean();
    }
    Q_EMIT sessionSaved(path, token, saved->of_this_session);
}

void Lab::applySavingFailed(quint64 token) {
    if (files_.savingFailed(token)) Q_EMIT savingFailed(token);
}

void Lab::openSession(const QString& path) {
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = askToReplace({}), path,
                                          first = firstReading()] { io->openSession(token, path, first); });
}

/// A restoration that has not been answered yet is not lost by an opening that fails.
quint64 Lab::askToReplace(Opening opening) {
    if (const Opening* replaced = files_.opening.newest())
        opening.instead_of =
            replaced->restored.empty() ? replaced->instead_of : std::make_shared<const Opening>(*replaced);
    return files_.opening.ask(std::move(opening));
}

/// The comparison stays as it is, or becomes that of the earlier window that it should have been.
void Lab::openingFailed(const Opening& opening) {
    if (opening.instead_of) restore(*opening.instead_of);
}

FirstReading Lab::firstReading() const {
    return {exploration_.probes(), outline_above_};
}

/// Asks for the rest of the outlines in the comparison: of a session that was opened, or that an undo brought
/// back.
void Lab::readRemainder() {
    auto request = std::make_shared<RemainderRequest>();
    for (const LabRun& run : now_.runs)
        if (run.data->unread && requested_.insert(run.data->unread).second)
            request->runs.push_back(run.data->unread);
    if (request->runs.empty()) return;
    request->token = rests_.ask(request);
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), request] { io->readRemainder(request); });
}

void Lab::applyRemainder(const RemainderReplyPtr& reply) {
    if (!rests_.take(reply->request->token)) return;
    for (std::size_t i = 0; i < reply->rests.size(); ++i) {
        if (!reply->rests[i]) continue;  // it stays asked for: what cannot be read is reported once
        const auto unread = reply->request->runs[i];
        std::vector<RunData*> outlines;
        for (const LabRun& run : now_.runs)
            if (run.data->unread == unread) outlines.push_back(run.data.get());
        // In place: an undo entry may hold the same data.
        for (std::size_t k = 0; k + 1 < outlines.size(); ++k) complete(*outlines[k], *reply->rests[i]);
        if (!outlines.empty()) complete(*outlines.back(), std::move(*reply->rests[i]));
        requested_.erase(unread);
    }
    reply->request->runs.clear();
    QMetaObject::invokeMethod(io_.get(), [] { close_unused_files(); });
    if (!reply->problem.isEmpty()) Q_EMIT problem(reply->problem);
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
    Q_EMIT viewChanged();
}

void Lab::cancelReading() {
    rests_.drop();
    requested_.clear();
}

QString Lab::notReadYet() const {
    for (const LabRun& run : now_.runs)
        if (run.data->unread)
            return tr("%1: not read to its end yet").arg(QString::fromStdString(run.data->unread->path));
    return {};
}

void Lab::findInterrupted() {
    QMetaObject::invokeMethod(io_.get(), &IoWorker::findInterrupted);
}

void Lab::resume(const QStringList& recordings) {
    recover(recordings, true);
}

void Lab::reopen(const QStringList& recordings) {
    recover(recordings, false);
}

void Lab::recover(const QStringList& recordings, bool resume) {
    Opening opening;
    opening.resume = resume;
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = askToReplace(std::move(opening)),
                                          recordings] { io->recoverRuns(token, recordings); });
}

void Lab::startOver() {
    Comparison after = now_;
    after.runs = {makeRun(newId(), load_recipe("pre-ln")), makeRun(newId(), load_recipe("post-ln"))};
    after.selected = 0;
    closeSession();
    exploration_.startOver(after);
    commit(std::move(after), tr("new comparison"), std::exchange(session_path_, QString()));
    Q_EMIT sessionPathChanged();
    undo_.setClean();  // the new one; the session that was left is not this one
}

void Lab::setSessionPath(const QString& path, bool changed) {
    if (!path.isEmpty() && !files_.isKnown(path)) {
        FileIdentity file;  // that no file has
        try {
            if (!changed) file = identity_of(path.toStdString());
        } catch (const SystemError& error) {
            Q_EMIT problem(QString::fromUtf8(error.what()));
        }
        files_.remember(path, file);
    }
    exchangeSessionPath(path);
}

QString Lab::exchangeSessionPath(const QString& path) {
    QString before = std::exchange(session_path_, path);
    if (before != path) Q_EMIT sessionPathChanged();
    return before;
}

/// Drops what was requested for the runs of this session.
void Lab::closeSession() {
    endMeasuring();
    cancelDrafts();
    remedies_shown_.reset();
    cancelReading();
    clearGhosts();
    requests_.closeSession();
    files_.newSession();
    if (std::exchange(drag_, std::nullopt)) Q_EMIT draggingChanged(false);
    selected_layer_ = selected_head_ = -1;
    step_ = kNewest;
}

void Lab::replaceRuns(std::vector<LabRun> runs) {
    if (anyTraining()) stop();
    closeSession();
    undo_.clear();
    now_.runs = std::move(runs);
    now_.selected = 0;
    assertSound(now_);
    exploration_.startOver(now_);
    training_.setPlaying(false);
    for (const LabRun& run : now_.runs) used_ids_.insert(run.id);
    readRemainder();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
    Q_EMIT viewChanged();
}

void Lab::applyOpened(quint64 token, const OpenedSessionPtr& opened) {
    const auto asked = files_.opening.take(token);
    if (!asked) return;
    std::vector<LabRun> runs;
    try {
        if (opened) runs = runsOf(*opened);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
    if (runs.empty()) return openingFailed(*asked);
    replaceRuns(std::move(runs));
    files_.remember(opened->path, opened->file);
    exchangeSessionPath(opened->path);
    Q_EMIT sessionOpened(opened);
}

void Lab::setKnobRecipes(const std::map<std::string, RunKnobs>& knobs) {
    for (const auto& [id, k] : knobs)
        if (LabRun* run = now_.find(id)) {
            run->recipe = k.recipe;
            run->live = k.live;
            run->pinned = k.pinned;
            run->given_name = k.name;
        }
    nameUntrained(now_);
    if (changesPending()) requestExplore();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

void Lab::applyRecovered(quint64 token, const QList<RecoveredRun>& recovered) {
    if (files_.additions.take(token)) return applyAdded(recovered);
    const auto asked = files_.opening.take(token);
    if (!asked) return;
    RecoveredRuns found;
    try {
        found = runsOf(recovered, asked->resume);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
    for (const QString& line : found.problems) Q_EMIT problem(line);
    if (found.runs.empty()) return openingFailed(*asked);
    replaceRuns(std::move(found.runs));
    exchangeSessionPath({});
    if (!found.plans.empty()) begin(std::move(found.plans), std::move(found.before));
}

// --- models of other programs

void Lab::importModel(const QString& path) {
    QMetaObject::invokeMethod(io_.get(),
                              [io = io_.get(), token = files_.additions.ask({Addition::From::Model}), path] {
                                  io->importModel(token, path);
                              });
}

void Lab::applyImported(quint64 token, const QString& path, const ImportedModelPtr& model) {
    if (!files_.additions.take(token) || !model) return;
    try {
        Recipe recipe = model->recipe;
        complete_without_data(recipe);  // the engine fills in what depends on the data
        Comparison after = now_;
        after.runs.push_back(makeRun(newId(), recipe));
        after.runs.back().weights = std::make_shared<const StartWeights>(StartWeights{
            QFileInfo(path).completeBaseName().toStdString(), path.toStdString(), model->weights});
        commit(std::move(after), tr("import %1").arg(QFileInfo(path).fileName()));
        selectRun(static_cast<int>(now_.runs.size()) - 1);
    } catch (const std::exception& error) {
        Q_EMIT problem(tr("%1: %2").arg(path, QString::fromUtf8(error.what())));
    }
}

// --- forks

const KnownCheckpoint* Lab::forkPoint() const {
    const KnownCheckpoint* best = nullptr;
    for (const auto& known : selected().checkpoints)
        if (known.step <= step_ && (!best || known.step > best->step)) best = &known;
    return best;
}

QString Lab::forkObstacle() const {
    const LabRun& run = selected();
    if (run.data->unread) return notReadYet();
    if (!forkPoint())
        return tr("%1 has no checkpoint at or before this step: one is taken every ten seconds, at a pause "
                  "and at the end")
            .arg(QString::fromStdString(run.data->name));
    if (!same_but_hot(run.live, run.recipe))
        return tr("A fork keeps the stack: only Δt, τ, ε, learning rate, weight decay and clip may differ");
    return {};
}

void Lab::forkSelected() {
    if (const QString obstacle = forkObstacle(); !obstacle.isEmpty()) {
        Q_EMIT problem(obstacle);
        return;
    }
    const LabRun& run = selected();
    const KnownCheckpoint* best = forkPoint();
    LabRun fork = run;
    fork.id = newId();
    fork.training = 0;
    fork.recording.clear();
    fork.session.clear();
    fork.data = std::make_shared<RunData>(*run.data);
    fork.data->id = fork.id;
    fork.data->name = default_run_name(fork.recipe) + ", fork at " + std::to_string(best->step);
    const CheckpointSource source = best->source;
    const quint64 token = forks_.ask({run.id, std::move(fork), run.data->name});
    QMetaObject::invokeMethod(io_.get(),
                              [io = io_.get(), token, source] { io->loadCheckpoint(token, source); });
}

/// Null: unreadable, which was reported.
void Lab::applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint) {
    if (const auto resumed = resumptions_.take(token)) {
        Resumption& resumption = *resumed->with;
        if (checkpoint) resumption.runs.emplace_back(resumed->id, checkpoint);
        if (--resumption.unread == 0) beginResumed(resumption);
    } else if (auto fork = forks_.take(token); fork && checkpoint) {
        applyFork(std::move(*fork), checkpoint);
    }
}

void Lab::applyFork(Fork fork, const CheckpointPtr& checkpoint) {
    auto& [parent, run, parent_name] = fork;
    auto history = std::make_shared<RunData>(*run.data);
    cut_after(*history, checkpoint->step - 1);
    history->outcome = {RunState::Running, -1, "", -1};
    if (checkpoint->step > 0)
        history->events.push_back({checkpoint->step - 1, "fork",
                                   "of " + parent_name + " at step " + std::to_string(checkpoint->step)});
    run.data = history;
    run.preview.reset();
    run.checkpoints = {{checkpoint->step, {run.id, checkpoint}}};
    RunPlan continued = planOf(run);
    continued.recipe = history->recipe.value("run " + run.id);
    continued.recipe.watch = run.recipe.watch;
    continued.history = std::make_shared<const RunData>(*history);
    continued.start = checkpoint;
    continued.knobs = hot_knobs(run.recipe);
    run.live = run.recipe;
    Comparison after = now_;
    // Moved knobs were applied to the fork; the parent keeps those moved since.
    if (LabRun* other = after.find(parent); other && same_recipe(other->recipe, run.recipe))
        other->recipe = other->live;
    after.runs.push_back(std::move(run));
    commit(std::move(after), tr("fork"));
    begin({continued});
}

}  // namespace normscope::app
