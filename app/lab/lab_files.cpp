// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory that speaks with the files: sessions, interrupted recordings.
#include "app/lab/hot_knobs.h"
#include "app/lab/lab.h"
#include "core/session/recovery.h"

namespace normscope::app {

quint64 Lab::saveSession(const QString& path, const std::string& view_json) {
    saving_[++save_token_] = {session_token_, edits_, results_, dragging()};
    SaveRequest request{save_token_, path, {}, view_json, {}, {}};
    for (const LabRun& run : runs_) {
        auto copy = std::make_shared<RunData>(*run.data);
        if (run.underWay())
            copy->outcome = {RunState::Interrupted, copy->steps.rows() ? copy->steps.step.back() : -1,
                             "saved while it trained", -1};
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
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), request] { io->saveSession(request); });
    return save_token_;
}

/// What was edited or trained while the file was written is not in it.
void Lab::takeSaved(quint64 token, const QString& path) {
    const Saving saved = saving_.extract(token).mapped();
    if (saved.session == session_token_) {
        if (saved.edits == edits_ && !saved.dragging)
            undo_.setClean();
        else
            undo_.resetClean();
        saved_results_ = saved.results;
    }
    Q_EMIT sessionSaved(path, token);
}

void Lab::openSession(const QString& path) {
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = ++replace_token_, path] { io->openSession(token, path); });
}

void Lab::findInterrupted() {
    QMetaObject::invokeMethod(io_.get(), &IoWorker::findInterrupted);
}

void Lab::resume(const QStringList& recordings) {
    resume_when_recovered_ = true;
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = ++replace_token_, recordings] {
        io->recoverRuns(token, recordings);
    });
}

void Lab::reopen(const QStringList& recordings) {
    resume_when_recovered_ = false;
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token = ++replace_token_, recordings] {
        io->recoverRuns(token, recordings);
    });
}

void Lab::replaceRuns(std::vector<LabRun> runs) {
    if (anyUnderWay()) stop();
    endMeasuring();
    undo_.clear();
    ghosts_.clear();
    forks_.clear();
    ++session_token_;
    saved_results_ = results_;
    if (std::exchange(drag_, std::nullopt)) Q_EMIT draggingChanged(false);
    oldest_training_ = train_generation_ = explore_generation_ =
        ++generation_;  // nothing under way belongs to these runs
    runs_ = std::move(runs);
    selected_run_ = 0;
    selected_layer_ = selected_head_ = -1;
    step_ = kNewest;
    exact_ = true;
    first_frame_due_ = explore_again_ = false;
    playing_ = false;
    for (LabRun& run : runs_) {
        used_ids_.insert(run.id);
        for (const auto& [probe, samples] : run.data->probes) run.measured_for[probe] = explore_generation_;
    }
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
    Q_EMIT viewChanged();
}

void Lab::replaceBySession(const OpenedSession& opened) {
    const Session& session = opened.session;
    const QString& path = opened.path;
    if (session.runs.empty()) {
        Q_EMIT problem(tr("%1: holds no run").arg(path));
        return;
    }
    try {
        std::vector<LabRun> runs;
        for (const RunData& data : session.runs) {
            const Recipe recipe = parse_recipe(data.recipe_json, path.toStdString() + ", run " + data.id);
            runs.push_back(
                {data.id, recipe, recipe, std::make_shared<RunData>(data), nullptr, false, {}, {}});
            for (const EmbeddedCheckpoint& inside : session.checkpoints)
                if (inside.run_id == data.id)
                    runs.back().checkpoints.push_back({inside.step, {data.id, inside}});
            if (const auto weights = opened.weights.find(data.id); weights != opened.weights.end())
                runs.back().weights = weights->second;
        }
        replaceRuns(std::move(runs));
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void Lab::setKnobRecipes(const std::map<std::string, RunKnobs>& knobs) {
    for (const auto& [id, k] : knobs)
        if (LabRun* run = find(id)) {
            run->recipe = k.recipe;
            run->live = k.live;
            run->pinned = k.pinned;
        }
    if (changesPending()) requestExplore();
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

void Lab::resumeRecovered(const QList<RecoveredRun>& recovered, bool continue_training) {
    std::vector<LabRun> runs;
    std::vector<RunPlan> plans;
    try {
        for (const RecoveredRun& found : recovered) {
            auto data = std::make_shared<RunData>(*found.data);
            std::string id = data->id;
            while (std::any_of(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == id; }))
                id += "'";
            data->id = id;
            const Recipe recipe = parse_recipe(data->recipe_json, found.path.toStdString());
            LabRun run{id, recipe, recipe, data, nullptr, false, {}, {}, found.weights};
            if (found.start && found.start != found.checkpoint)
                run.checkpoints.push_back({found.start->step, {id, found.start}});
            if (found.checkpoint) {
                setHotKnobs(run.recipe, hotKnobs(*found.checkpoint));
                run.live = run.recipe;
                run.checkpoints.push_back({found.checkpoint->step, {id, found.checkpoint}});
                cut_after(*data, found.checkpoint->step - 1);
                if (found.checkpoint->step > 0)
                    plans.push_back({id,
                                     data->name,
                                     recipe,
                                     std::make_shared<const RunData>(*data),
                                     found.checkpoint,
                                     {},
                                     found.weights});
                else  // nothing lies behind it: it begins once more
                    plans.push_back({id, data->name, run.recipe, nullptr, nullptr, {}, found.weights});
            } else if (continue_training) {
                Q_EMIT problem(tr("%1: no checkpoint was taken, it can only be looked at").arg(found.path));
            }
            if (!continue_training) *data = *found.data;
            runs.push_back(std::move(run));
        }
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return;
    }
    if (runs.empty()) return;
    replaceRuns(std::move(runs));
    if (!continue_training || plans.empty()) return;
    for (qsizetype i = 0; i < recovered.size(); ++i)
        if (recovered[i].checkpoint) {
            const QString id = QString::fromStdString(runs_[static_cast<std::size_t>(i)].id);
            QMetaObject::invokeMethod(
                io_.get(), [io = io_.get(), id, path = recovered[i].path] { io->continueAt(id, path); });
        }
    begin(plans);
}

}  // namespace normscope::app
