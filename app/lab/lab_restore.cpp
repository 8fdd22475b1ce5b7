// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory that keeps its runs for the next start and restores them. What a recording or a
// session has is not written again: the state names the file.
#include "app/lab/engine/call_and_wait.h"
#include "app/lab/engine/start_weights.h"
#include "app/lab/lab.h"
#include "core/session/run_header.h"

#include <algorithm>

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
        const bool planned =
            !recipe || probe == "flight" ||
            std::any_of(recorded.begin(), recorded.end(), [&](const auto& p) { return p.id == probe; });
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

SavedComparison Lab::savedComparison(const QString& companion, bool closing) {
    SavedComparison kept;
    SaveRequest request{0, companion, {}, "{}", {}, {}, {}};
    std::vector<SavedData> written;
    for (const LabRun& run : now_.runs) {
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
            if (run.isTraining()) data->outcome = {RunState::Interrupted, -1, "kept while it trained", -1};
            written.push_back({run.id, nullptr, 0, samples.size()});
            request.runs.push_back(std::move(data));
            k.companion = true;
        } else if ((run.trained() || run.pinned || run.weights) && (closing || !run.isTraining())) {
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
            } else if (!run.pinned && !run.checkpoints.empty()) {
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

void Lab::saveWindow(const SaveWindowRequest& request) {
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = saving_window_.ask(caching_for_), request] {
        io->saveWindow(token, request);
    });
}

bool Lab::saveWindowNow(const SaveWindowRequest& request) {
    return callAndWait(io_.get(), [io = io_.get(), token = saving_window_.ask(caching_for_), &request] {
        return io->saveWindow(token, request);
    });
}

/// What is not in the companion file yet is written again with the next state.
void Lab::applyWindowSaved(quint64 token, bool kept) {
    auto written = saving_window_.take(token);
    if (!written) return;
    if (kept) cached_for_ = std::move(*written);
    Q_EMIT windowSaved(kept);
}

void Lab::restore(const std::vector<SavedRun>& runs, const QString& companion) {
    Opening opening;
    opening.restored = runs;
    opening.companion = companion;
    restore(std::move(opening));
}

void Lab::restore(Opening opening) {
    const std::vector<SavedRun> runs = opening.restored;
    const QString companion = opening.companion;
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = files_.opening.ask(std::move(opening)), runs, companion,
                    first = firstReading()] { io->restoreRuns(token, runs, companion, first); });
}

void Lab::applyRestored(quint64 token, const RestoredRunsPtr& restored_runs) {
    const auto asked = files_.opening.take(token);
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
    Q_EMIT comparisonRestored();
    // A session's untrained runs have their samples; these are measured again.
    const auto untrained = [](const LabRun& run) { return !run.committed() && !run.pinned; };
    if (std::any_of(now_.runs.begin(), now_.runs.end(), untrained)) requestExplore();
}

std::map<std::string, std::vector<std::string>> Lab::attemptedRemedies() const {
    std::map<std::string, std::vector<std::string>> tried;
    for (const auto& [id, trials] : remedies_)
        if (!trials.tried.empty() && now_.find(id)) tried[id] = trials.tried;
    return tried;
}

void Lab::restoreTried(const std::map<std::string, std::vector<std::string>>& tried) {
    for (const auto& [id, runs] : tried) {
        const LabRun* run = now_.find(id);
        if (!run || run->pinned || !run->trained() || !has_failed(run->data->outcome)) continue;
        RemedyTrials& trials = remedies_[id];
        if (!trials.match(*run)) trials = trialsOf(*run);
        trials.tried = runs;
    }
    Q_EMIT remediesChanged();
}

}  // namespace normscope::app
