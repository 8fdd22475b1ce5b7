// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory for files: sessions, interrupted recordings, models, forks' checkpoints.
#include "app/lab/lab.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/complete.h"
#include "core/session/recovery.h"

#include <QFileInfo>

namespace normscope::app {

quint64 Lab::saveSession(const QString& path, const std::string& view_json) {
    SaveRequest request = files_.save(now_, path, view_json, dragging());
    const quint64 token = request.token;
    std::set<std::string> ids;
    for (const LabRun& run : now_.runs) ids.insert(run.id);
    saved_runs_[path.toStdString()] = std::move(ids);
    QMetaObject::invokeMethod(io_.get(),
                              [io = io_.get(), saved = std::move(request)] { io->saveSession(saved); });
    return token;
}

/// Edits and training while the file was written are not in it.
void Lab::applySaved(quint64 token, const QString& path) {
    const auto saved = files_.saved(token);
    if (!saved) return;
    if (saved->of_this_session) saved->edits_too ? undo_.setClean() : undo_.resetClean();
    Q_EMIT sessionSaved(path, token);
}

void Lab::openSession(const QString& path) {
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = files_.open(), path,
                                          first = firstReading()] { io->openSession(token, path, first); });
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
    reading_.push_back(request);
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), request] { io->readRemainder(request); });
}

void Lab::applyRemainder(const RemainderReplyPtr& reply) {
    if (reply->request->cancelled) return;
    std::erase(reading_, reply->request);
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
    for (const RemainderRequestPtr& request : reading_) request->cancelled = true;
    reading_.clear();
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
    reopen(recordings);
    resume_when_recovered_ = true;
}

void Lab::reopen(const QStringList& recordings) {
    resume_when_recovered_ = false;
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = files_.open(), recordings] {
        io->recoverRuns(token, recordings);
    });
}

void Lab::startOver() {
    files_.discardOpening();
    Comparison after = now_;
    after.runs = {makeRun(newId(), load_recipe("pre-ln")), makeRun(newId(), load_recipe("post-ln"))};
    after.selected = 0;
    closeSession();
    exploration_.startOver(after);
    commit(std::move(after), tr("new comparison"), std::exchange(session_path_, QString()));
    Q_EMIT sessionPathChanged();
    undo_.setClean();  // the new one; the session that was left is not this one
}

QString Lab::exchangeSessionPath(const QString& path) {
    QString before = std::exchange(session_path_, path);
    if (before != path) Q_EMIT sessionPathChanged();
    return before;
}

/// Drops what was requested for the runs of this session.
void Lab::closeSession() {
    endMeasuring();
    cancelReading();
    clearGhosts();
    forks_.clear();
    resumptions_.clear();
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
    exploration_.startOver(now_);
    training_.setPlaying(false);
    for (const LabRun& run : now_.runs) used_ids_.insert(run.id);
    readRemainder();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
    Q_EMIT viewChanged();
}

void Lab::applyOpened(quint64 token, const OpenedSessionPtr& opened) {
    if (!files_.opened(token)) return;
    try {
        replaceRuns(runsOf(*opened));
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
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
    if (adding_.erase(token) > 0) {
        if (files_.imported(token)) applyAdded(recovered);  // not to a comparison that was begun since
        return;
    }
    if (!files_.opened(token)) return;
    RecoveredRuns found;
    try {
        found = runsOf(recovered, resume_when_recovered_);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    for (const QString& line : found.problems) Q_EMIT problem(line);
    if (found.runs.empty()) return;
    replaceRuns(std::move(found.runs));
    setSessionPath({});
    if (!found.plans.empty()) begin(std::move(found.plans));
}

// --- models of other programs

void Lab::importModel(const QString& path) {
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = files_.import(), path] { io->importModel(token, path); });
}

void Lab::applyImported(quint64 token, const QString& path, const ImportedModelPtr& model) {
    if (!files_.imported(token)) return;
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
    forks_[++fork_token_] = {run.id, std::move(fork), run.data->name};
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = fork_token_, source] { io->loadCheckpoint(token, source); });
}

void Lab::applyForkCheckpoint(quint64 token, const CheckpointPtr& checkpoint) {
    if (resumptions_.count(token)) return applyResumption(token, checkpoint);
    auto waiting = forks_.extract(token);
    if (!waiting || !checkpoint) return;  // of another session, or unreadable
    auto& [parent, run, parent_name] = waiting.mapped();
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
