// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/session_files.h"

#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/session/recovery.h"

#include <QObject>
#include <algorithm>

namespace normscope::app {

SaveRequest SessionFiles::save(const Comparison& now, const QString& path, const std::string& view_json,
                               bool dragging) {
    SaveRequest request{++token_, path, {}, view_json, {}, {}};
    saving_[token_] = {session_, edits_, results_, dragging};
    for (const LabRun& run : now.runs) {
        auto copy = std::make_shared<RunData>(*run.data);
        if (run.isTraining())
            copy->outcome = {RunState::Interrupted, run.lastStep(), "saved while it trained", -1};
        const bool only_weights = run.weights && !run.trained();
        if (only_weights) {
            copy->events = {weightsEvent(*run.weights)};
            request.weights[request.runs.size()] = run.weights;
        }
        request.runs.push_back(std::move(copy));
        if (only_weights) continue;
        for (const KnownCheckpoint& known : run.checkpoints) {
            request.checkpoints.push_back(known.source);
            request.checkpoints.back().run_id = run.id;
        }
    }
    return request;
}

std::optional<SessionFiles::Saved> SessionFiles::saved(quint64 token) {
    const auto waiting = saving_.extract(token);
    if (!waiting) return std::nullopt;
    const Saving& then = waiting.mapped();
    if (then.session != session_) return Saved{};
    saved_results_ = then.results;
    return Saved{true, then.edits == edits_ && !then.dragging};
}

quint64 SessionFiles::import() {
    imports_.insert(++token_);
    return token_;
}

void SessionFiles::newSession() {
    ++session_;
    imports_.clear();
    saved_results_ = results_;
}

std::vector<LabRun> runsOf(const OpenedSession& opened) {
    const std::string path = opened.path.toStdString();
    if (opened.runs.empty()) throw InputError(path + ": holds no run");
    std::vector<LabRun> runs;
    for (const std::shared_ptr<RunData>& opened_run : opened.runs) {
        const RunData& data = *opened_run;
        LabRun run;
        run.id = data.id;
        run.recipe = run.live = data.recipe.value(path + ", run " + data.id);
        run.data = opened_run;
        run.session = path;
        for (const EmbeddedCheckpoint& inside : opened.session.checkpoints)
            if (inside.run_id == data.id) run.checkpoints.push_back({inside.step, {data.id, inside}});
        if (const auto weights = opened.weights.find(data.id); weights != opened.weights.end())
            run.weights = weights->second;
        runs.push_back(std::move(run));
    }
    return runs;
}

namespace {

/// The plan that resumes an interrupted run; from a checkpoint of step 0 it starts again.
RunPlan continued(const RecoveredRun& found, const LabRun& run, const Recipe& recorded) {
    RunPlan plan;
    plan.id = run.id;
    plan.name = run.data->name;
    plan.weights = found.weights;
    plan.recording = found.path.toStdString();
    plan.recipe = run.recipe;
    if (found.checkpoint->step == 0) return plan;
    plan.recipe = recorded;
    plan.history = std::make_shared<const RunData>(*run.data);
    plan.start = found.checkpoint;
    return plan;
}

}  // namespace

RecoveredRuns runsOf(const QList<RecoveredRun>& recovered, bool continue_training) {
    RecoveredRuns result;
    for (const RecoveredRun& found : recovered) {
        LabRun run;
        run.data = std::make_shared<RunData>(*found.data);
        run.id = run.data->id;
        while (std::any_of(result.runs.begin(), result.runs.end(),
                           [&](const LabRun& r) { return r.id == run.id; }))
            run.id += "'";
        run.data->id = run.id;
        const Recipe& recorded = found.data->recipe.value(found.path.toStdString());
        run.recipe = recorded;
        run.weights = found.weights;
        run.recording = found.path.toStdString();
        if (found.start && found.start != found.checkpoint)
            run.checkpoints.push_back({found.start->step, {run.id, found.start}});
        if (found.checkpoint) {
            set_hot_knobs(run.recipe, hot_knobs(*found.checkpoint));
            run.checkpoints.push_back({found.checkpoint->step, {run.id, found.checkpoint}});
            if (continue_training) {
                cut_after(*run.data, found.checkpoint->step - 1);
                result.plans.push_back(continued(found, run, recorded));
            }
        } else if (continue_training) {
            result.problems
                << QObject::tr("%1: no checkpoint was taken, it can only be opened").arg(found.path);
        }
        run.live = run.recipe;
        result.runs.push_back(std::move(run));
    }
    return result;
}

}  // namespace normscope::app
