// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab_session.h"

#include "app/lab/engine/call_and_wait.h"
#include "app/lab/engine/start_weights.h"
#include "app/lab/files/read_runs.h"
#include "app/lab/knobs.h"
#include "app/lab/measurement.h"
#include "app/lab/notes.h"
#include "app/lab/remedies.h"
#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/state/outlines.h"
#include "app/lab/training_control.h"
#include "core/base/error.h"
#include "core/recipe/presets.h"
#include "core/session/run_header.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

/// Samples of a run that its recording does not have: of probes that only a panel requested, and those
/// measured by replay.
std::vector<const ProbeResult*> unrecorded(const LabRun& run) {
    std::vector<const ProbeResult*> samples;
    if (!run.trained()) return samples;
    const Recipe* recipe = run.data->recipe.get();
    const std::vector<ProbePlan> recorded = recipe ? recipe->probes : std::vector<ProbePlan>{};
    for (const auto& [probe, all] : run.data->probes) {
        const bool planned = !recipe || probe == "flight" ||
                             std::any_of(recorded.begin(), recorded.end(),
                                         [&id = probe](const auto& p) { return p.id == id; });
        for (const ProbeResult& sample : all)
            if (!planned || run.replayed.count({probe, sample.step})) samples.push_back(&sample);
    }
    return samples;
}

std::size_t samplesOf(const RunData& run) {
    std::size_t samples = 0;
    for (const auto& probe : run.probes) samples += probe.second.size();
    return samples;
}

}  // namespace

LabSession::LabSession(LabState& state, const Parts& parts, std::size_t outline_above)
    : state_(state),
      parts_(parts),
      outline_above_(outline_above),
      saving_window_(state.requests, "keep window", Pending<std::vector<SavedData>>::Replies::OfEach,
                     PendingKind::Owner::Window) {
    IoWorker* io = state_.io();
    state_.onReply(io, &IoWorker::sessionSaved, this, &LabSession::applySaved);
    state_.onReply(io, &IoWorker::savingFailed, this, &LabSession::applySavingFailed);
    state_.onReply(io, &IoWorker::sessionOpened, this, &LabSession::applyOpened);
    state_.onReply(io, &IoWorker::runsRecovered, this, &LabSession::applyRecovered);
    state_.onReply(io, &IoWorker::runsRestored, this, &LabSession::applyRestored);
    state_.onReply(io, &IoWorker::windowSaved, this, &LabSession::applyWindowSaved);
    connect(&state_, &LabState::sessionPathChanged, this, &LabSession::pathChanged);
}

const QString& LabSession::path() const {
    return state_.session_path;
}

bool LabSession::unsaved() const {
    return !parts_.edits.undoStack().isClean() || state_.files.resultsUnsaved();
}

void LabSession::setPath(const QString& path, bool changed) {
    if (!path.isEmpty() && !state_.files.isKnown(path)) {
        FileIdentity file;  // that no file has
        try {
            if (!changed) file = identity_of(path.toStdString());
        } catch (const SystemError& error) {
            Q_EMIT state_.problem(QString::fromUtf8(error.what()));
        }
        state_.files.remember(path, file);
    }
    parts_.edits.exchangeSessionPath(path);
}

quint64 LabSession::save(const QString& path, const std::string& view_json, bool on_purpose) {
    SaveRequest request = state_.files.save(state_.now, path, view_json, parts_.knobs.dragging(), on_purpose);
    const quint64 token = request.token;
    QMetaObject::invokeMethod(state_.io(),
                              [io = state_.io(), saved = std::move(request)] { io->saveSession(saved); });
    return token;
}

/// Edits and training while the file was written are not in it.
void LabSession::applySaved(quint64 token, const QString& path, const FileIdentity& file) {
    auto written = state_.files.saved(token, path, file);
    if (!written) return;
    saved_runs_[path.toStdString()] = std::move(written->runs);
    if (written->of_this_session) {
        parts_.edits.exchangeSessionPath(path);
        QUndoStack& undo = parts_.edits.undoStack();
        written->edits_too ? undo.setClean() : undo.resetClean();
    }
    Q_EMIT saved(path, token, written->of_this_session);
}

void LabSession::applySavingFailed(quint64 token) {
    if (state_.files.savingFailed(token)) Q_EMIT savingFailed(token);
}

// --- what replaces it

void LabSession::open(const QString& path) {
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), token = askToReplace({}), path,
                                            first = firstReading()] { io->openSession(token, path, first); });
}

/// A restoration that has not been answered yet is not lost by an opening that fails.
quint64 LabSession::askToReplace(Opening opening) {
    if (const Opening* replaced = state_.files.opening.newest())
        opening.instead_of =
            replaced->restored.empty() ? replaced->instead_of : std::make_shared<const Opening>(*replaced);
    return state_.files.opening.ask(std::move(opening));
}

/// The comparison stays as it is, or becomes that of the earlier window that it should have been.
void LabSession::openingFailed(const Opening& opening) {
    if (opening.instead_of) restoreOpening(*opening.instead_of);
}

FirstReading LabSession::firstReading() const {
    return {state_.exploration.probes(), outline_above_};
}

void LabSession::applyOpened(quint64 token, const OpenedSessionPtr& session) {
    const auto asked = state_.files.opening.take(token);
    if (!asked) return;
    std::vector<LabRun> runs;
    try {
        if (session) runs = runsOf(*session);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
    if (runs.empty()) return openingFailed(*asked);
    replaceRuns(std::move(runs));
    state_.files.remember(session->path, session->file);
    parts_.edits.exchangeSessionPath(session->path);
    Q_EMIT opened(session);
}

void LabSession::startOver() {
    Comparison after = state_.now;
    after.runs = {makeRun(state_.newId(), load_recipe(kDefaultComparison[0])),
                  makeRun(state_.newId(), load_recipe(kDefaultComparison[1]))};
    after.selected = 0;
    leave();
    state_.exploration.startOver(after);
    parts_.edits.commit(std::move(after), tr("new comparison"),
                        std::exchange(state_.session_path, QString()));
    Q_EMIT state_.sessionPathChanged();
    parts_.edits.undoStack().setClean();  // the new one; the session that was left is not this one
}

/// Drops what was requested for the runs of this session.
void LabSession::leave() {
    parts_.measurement.cancel();
    parts_.remedies.leaveSession();
    parts_.outlines.cancel();
    state_.ghosts = {};
    state_.requests.closeSession();
    state_.files.newSession();
    parts_.knobs.abandonDrag();
    state_.shown = {};
}

void LabSession::replaceRuns(std::vector<LabRun> runs) {
    if (state_.now.anyTraining()) parts_.training.stop();
    leave();
    parts_.edits.undoStack().clear();
    state_.now.runs = std::move(runs);
    state_.now.selected = 0;
    parts_.notes.clear();
    assertSound(state_.now);
    state_.exploration.startOver(state_.now);
    state_.training.setPlaying(false);
    for (const LabRun& run : state_.now.runs) state_.used_ids.insert(run.id);
    parts_.outlines.read();
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
    Q_EMIT state_.viewChanged();
}

void LabSession::resume(const QStringList& recordings) {
    recover(recordings, true);
}

void LabSession::reopen(const QStringList& recordings) {
    recover(recordings, false);
}

void LabSession::recover(const QStringList& recordings, bool resume) {
    Opening opening;
    opening.resume = resume;
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), token = askToReplace(std::move(opening)),
                                            recordings] { io->recoverRuns(token, recordings); });
}

void LabSession::applyRecovered(quint64 token, const QList<RecoveredRun>& recovered) {
    const auto asked = state_.files.opening.take(token);
    if (!asked) return;
    RecoveredRuns found;
    try {
        found = runsOf(recovered, asked->resume);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
    for (const QString& line : found.problems) Q_EMIT state_.problem(line);
    if (found.runs.empty()) return openingFailed(*asked);
    replaceRuns(std::move(found.runs));
    parts_.edits.exchangeSessionPath({});
    if (!found.plans.empty()) parts_.training.begin(std::move(found.plans), std::move(found.before));
}

// --- the state of a window

void LabSession::restore(const std::vector<SavedRun>& runs, const QString& companion) {
    Opening opening;
    opening.restored = runs;
    opening.companion = companion;
    restoreOpening(std::move(opening));
}

void LabSession::restoreOpening(Opening opening) {
    const std::vector<SavedRun> runs = opening.restored;
    const QString companion = opening.companion;
    QMetaObject::invokeMethod(
        state_.io(), [io = state_.io(), token = state_.files.opening.ask(std::move(opening)), runs, companion,
                      first = firstReading()] { io->restoreRuns(token, runs, companion, first); });
}

void LabSession::applyRestored(quint64 token, const RestoredRunsPtr& restored_runs) {
    const auto asked = state_.files.opening.take(token);
    if (!asked) return;
    const std::vector<SavedRun>& kept = asked->restored;
    std::vector<LabRun> runs;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const auto& from = (*restored_runs)[i].run;
        LabRun run = from ? *from : makeRun(kept[i].id, kept[i].recipe);
        run.id = kept[i].id;
        run.data = std::make_shared<RunData>(*run.data);
        run.data->id = run.id;
        run.data->name = kept[i].name;
        run.drawn_name = kept[i].drawn_name;
        run.not_recorded = kept[i].not_recorded;
        runs.push_back(std::move(run));
    }
    if (runs.empty()) return;
    replaceRuns(std::move(runs));
    Q_EMIT restored();
    // A session's untrained runs have their samples; these are measured again.
    const auto untrained = [](const LabRun& run) { return !run.committed() && !run.fixed(); };
    if (std::any_of(state_.now.runs.begin(), state_.now.runs.end(), untrained)) state_.requestExplore();
}

SavedComparison LabSession::savedComparison(const QString& companion, bool closing) {
    SavedComparison kept;
    SaveRequest request{0, companion, {}, "{}", {}, {}, {}};
    std::vector<SavedData> written;
    for (const LabRun& run : state_.now.runs) {
        SavedRun& k = kept.runs.emplace_back();
        k = {run.id, run.data->name, run.drawn_name, run.not_recorded, run.recipe, run.recording, {}, false};
        const auto saved = saved_runs_.find(run.session);
        if (k.recording.empty() && (saved == saved_runs_.end() || saved->second.count(run.id)))
            k.session = run.session;
        if (!k.recording.empty() || !k.session.empty()) {
            const auto samples = unrecorded(run);
            if (samples.empty()) continue;
            auto data = std::make_shared<RunData>(run_header(*run.data));
            for (const ProbeResult* sample : samples) data->probes[sample->probe].push_back(*sample);
            if (run.unfinished()) data->outcome = {RunState::Interrupted, -1, "kept while it trained", -1};
            written.push_back({run.id, nullptr, 0, samples.size()});
            request.runs.push_back(std::move(data));
            k.companion = true;
        } else if ((run.trained() || run.fixed() || run.weights) && (closing || !run.isTraining())) {
            // A reference, a run that could not be recorded, an imported model.
            k.companion = true;
            written.push_back({run.id, run.data, run.data->steps.rows(), samplesOf(*run.data)});
            auto data = std::make_shared<RunData>(*run.data);
            data->id = run.id;
            if (run.isTraining())
                data->outcome = {RunState::Interrupted, run.lastStep(), "stopped when the window closed", -1};
            if (run.weights && !run.trained()) {
                data->events = {weightsEvent(*run.weights)};
                request.weights[request.runs.size()] = run.weights;
            } else if (!run.fixed() && !run.checkpoints.empty()) {
                request.checkpoints.push_back(run.checkpoints.back().source);
                request.checkpoints.back().run_id = run.id;
            }
            request.runs.push_back(std::move(data));
        }
    }
    if (!written.empty() && written != cached_for_) kept.companion = std::move(request);
    caching_for_ = std::move(written);
    return kept;
}

void LabSession::saveWindow(const SaveWindowRequest& request) {
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), token = saving_window_.ask(caching_for_),
                                            request] { io->saveWindow(token, request); });
}

bool LabSession::saveWindowNow(const SaveWindowRequest& request) {
    return callAndWait(state_.io(), [io = state_.io(), token = saving_window_.ask(caching_for_), &request] {
        return io->saveWindow(token, request);
    });
}

/// What is not in the companion file yet is written again with the next state.
void LabSession::applyWindowSaved(quint64 token, bool kept) {
    auto written = saving_window_.take(token);
    if (!written) return;
    if (kept) cached_for_ = std::move(*written);
    Q_EMIT windowSaved(kept);
}

}  // namespace normscope::app
