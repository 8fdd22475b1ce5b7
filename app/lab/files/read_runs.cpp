// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/read_runs.h"

#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/session/recording/recovery.h"

#include <QObject>
#include <algorithm>

namespace normscope::app {

namespace {

/// A run of a file is not in training here. While another process writes it, it is followed.
LabRun notInTraining(LabRun run, const std::string& path, const FileIdentity& file) {
    if (!run.unfinished()) return run;
    run.followed = std::make_shared<Followed>(Followed{path, mark_of(*run.data, file)});
    run.recording.clear();  // it is not ours
    run.session = path;
    return run;
}

}  // namespace

std::vector<LabRun> runsOf(const OpenedSession& opened) {
    const std::string path = opened.path.toStdString();
    if (opened.runs.empty()) throw InputError(path + ": holds no run");
    std::vector<LabRun> runs;
    for (const std::shared_ptr<RunData>& opened_run : opened.runs) {
        const RunData& data = *opened_run;
        LabRun run;
        run.id = data.id;
        if (std::any_of(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == run.id; }))
            throw InputError(path + ": two runs have the id " + run.id);
        run.recipe = run.live = data.recipe.value(path + ", run " + data.id);
        run.data = opened_run;
        run.session = path;
        for (const EmbeddedCheckpoint& inside : opened.session.checkpoints)
            if (inside.run_id == data.id) run.checkpoints.push_back({inside.step, {data.id, inside}});
        if (const auto weights = opened.weights.find(data.id); weights != opened.weights.end())
            run.weights = weights->second;
        runs.push_back(notInTraining(std::move(run), path, opened.file));
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
                result.before[run.id] = std::make_shared<RunData>(*run.data);
                cut_after(*run.data, found.checkpoint->step - 1);
                result.plans.push_back(continued(found, run, recorded));
            }
        } else if (continue_training) {
            result.problems
                << QObject::tr("%1: no checkpoint was taken, it can only be opened").arg(found.path);
        }
        run.live = run.recipe;
        result.runs.push_back(notInTraining(std::move(run), found.path.toStdString(), found.file));
    }
    return result;
}

}  // namespace normscope::app
