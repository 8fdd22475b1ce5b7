// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab.h"

#include "app/commands/change_runs.h"
#include "app/lab/hot_knobs.h"
#include "core/probe/operations.h"
#include "core/probe/registry.h"
#include "core/session/recovery.h"
#include "core/stack/error.h"
#include "widgets/knobs/recipe_keys.h"
#include "widgets/panels/panel_registry.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <thread>

namespace normscope::app {

namespace {

constexpr int kUndoLimit = 100;  // an entry may hold the recorded data of runs that were replaced

int engineThreads(int wanted) {
    return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

std::vector<LabRun> defaultRuns() {
    return {makeRun("a", load_recipe("pre-ln")), makeRun("b", load_recipe("post-ln"))};
}

}  // namespace

Lab::Lab(Options options, QObject* parent)
    : QObject(parent),
      io_("files", options.recordings_folder),
      engine_("engine", engineThreads(options.threads)) {
    undo_.setUndoLimit(kUndoLimit);
    EngineWorker* engine = engine_.get();
    IoWorker* io = io_.get();
    connect(engine, &EngineWorker::frameReady, this, &Lab::takeFrame);
    connect(engine, &EngineWorker::refused, this, [this](quint64 generation, const QString& message) {
        const bool newest = generation == explore_generation_ || generation == train_generation_;
        if (generation == explore_generation_) {
            exact_ = true;
            firstFrameCame();
        }
        if (generation == train_generation_) {
            playing_ = false;
            for (LabRun& run : runs_)
                if (!run.trained() && run.underWay()) run.data->outcome.state = RunState::Prepared;
            Q_EMIT trainingChanged();
        }
        if (newest) Q_EMIT problem(message);
    });
    // What a run does goes straight to its recording: an interface that is busy must not hold it up.
    connect(engine, &EngineWorker::recordingWaits, io, [io, queue = engine->recordings()] { io->record(queue); });
    connect(io, &IoWorker::notRecorded, this, &Lab::takeNotRecorded);

    connect(io, &IoWorker::problem, this, &Lab::problem);
    connect(&undo_, &QUndoStack::indexChanged, this, [this] { ++edits_; });
    connect(io, &IoWorker::sessionSaved, this, &Lab::takeSaved);
    connect(io, &IoWorker::savingFailed, this, [this](quint64 token) {
        saving_.erase(token);
        Q_EMIT savingFailed(token);
    });
    connect(io, &IoWorker::interruptedFound, this, &Lab::interruptedFound);
    connect(io, &IoWorker::runsRecovered, this, [this](quint64 token, const QList<RecoveredRun>& recovered) {
        if (token == replace_token_) resumeRecovered(recovered, resume_when_recovered_);
    });
    connect(io, &IoWorker::sessionOpened, this, [this](quint64 token, const OpenedSessionPtr& opened) {
        if (token != replace_token_) return;
        replaceBySession(*opened);
        Q_EMIT sessionOpened(opened);
    });
    connect(io, &IoWorker::modelImported, this,
            [this](quint64 token, const QString& path, const ImportedModelPtr& model) {
                if (token == session_token_) addImported(path, *model);
            });
    connect(io, &IoWorker::checkpointsFetched, this, &Lab::startFetched);
    connect(engine, &EngineWorker::measured, this, &Lab::takeMeasured);
    connect(engine, &EngineWorker::replayed, this, [this](quint64 token, const QString&, quint64 steps_done) {
        if (!measuring_ || token != measuring_->token) return;
        measuring_->steps_done = static_cast<std::int64_t>(steps_done);
        Q_EMIT measuringChanged();
    });
    connect(engine, &EngineWorker::measuringEnded, this, [this](quint64 token) {
        if (!measuring_ || token != measuring_->token) return;
        measuring_.reset();
        Q_EMIT measuringChanged();
    });
    connect(io, &IoWorker::checkpointLoaded, this, &Lab::takeForkCheckpoint);

    runs_ = defaultRuns();
    nameUntrained();
}

Lab::~Lab() {
    disconnect(&undo_, nullptr, this, nullptr);
    engine_->shutDown();
    engine_->stop();
    engine_.drain();
    io_.drain();
}

// --- the comparison

LabRun* Lab::find(const std::string& id) {
    const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const LabRun& r) { return r.id == id; });
    return run == runs_.end() ? nullptr : &*run;
}

std::string Lab::freshId() const {
    for (int i = 0;; ++i) {
        std::string id;
        for (int n = i; n >= 0; n = n / 26 - 1) id.insert(id.begin(), static_cast<char>('a' + n % 26));
        const bool taken =
            std::any_of(runs_.begin(), runs_.end(), [&](const LabRun& r) { return r.id == id; });
        if (!taken && !used_ids_.count(id)) return id;
    }
}

void Lab::selectRun(int index) {
    if (index < 0 || index >= static_cast<int>(runs_.size()) || index == selected_run_) return;
    selected_run_ = index;
    Q_EMIT runsChanged();
    Q_EMIT viewChanged();
}

void Lab::setLinked(bool linked) {
    if (linked_ == linked) return;
    linked_ = linked;
    Q_EMIT runsChanged();
}

QSet<QString> Lab::differingKeys() const {
    QSet<QString> differing;
    const auto first = widgets::recipeValues(runs_.front().recipe);
    for (std::size_t i = 1; i < runs_.size(); ++i) {
        const auto other = widgets::recipeValues(runs_[i].recipe);
        for (auto it = other.begin(); it != other.end(); ++it)
            if (first.value(it.key()) != it.value()) differing.insert(it.key());
    }
    return differing;
}

void Lab::putRuns(std::vector<LabRun> runs) {
    const std::string id = selected().id;
    runs_ = std::move(runs);
    const auto same =
        std::find_if(runs_.begin(), runs_.end(), [&](const LabRun& run) { return run.id == id; });
    selected_run_ = same != runs_.end() ? static_cast<int>(same - runs_.begin())
                                        : std::clamp(selected_run_, 0, static_cast<int>(runs_.size()) - 1);
}

void Lab::changeRuns(std::vector<LabRun> after, const QString& text) {
    std::vector<LabRun> before = runs_;
    if (drag_) {
        // What this change itself does to a recipe is where the drag goes on from.
        for (const LabRun& run : after)
            if (const LabRun* now = find(run.id); now && !sameRecipe(now->recipe, run.recipe))
                drag_->before[run.id] = run.recipe;
    }
    putRuns(after);
    undo_.push(new ChangeRuns(*this, beforeDrag(std::move(before)), beforeDrag(std::move(after)), text));
    applyRecipes();
    Q_EMIT viewChanged();
}

void Lab::restoreRuns(const std::vector<LabRun>& runs) {
    std::vector<LabRun> restored = runs;
    for (LabRun& run : restored)
        if (const LabRun* now = find(run.id)) {
            // What was recorded meanwhile stays: undo speaks of knobs, not of the past.
            const Recipe recipe = run.recipe;
            const bool pinned = run.pinned;
            const StartWeightsPtr weights = run.weights;
            run = *now;
            run.recipe = recipe;
            run.pinned = pinned;
            run.weights = weights;
        }
    const bool lost = std::any_of(runs_.begin(), runs_.end(), [&](const LabRun& now) {
        return now.underWay() && std::none_of(restored.begin(), restored.end(),
                                              [&](const LabRun& r) { return r.id == now.id; });
    });
    if (lost) stop();
    putRuns(std::move(restored));
    if (drag_)
        for (const LabRun& run : runs_) drag_->before[run.id] = run.recipe;
    applyRecipes();
    Q_EMIT viewChanged();
}

void Lab::startOver() {
    ++replace_token_;
    replaceRuns(defaultRuns());
    requestExplore();
}

void Lab::compare(const std::vector<Recipe>& recipes, const QString& text) {
    if (anyUnderWay()) stop();
    std::vector<LabRun> after;
    for (const Recipe& recipe : recipes) {
        after.push_back(makeRun(freshId(), recipe));
        used_ids_.insert(after.back().id);
    }
    step_ = kNewest;
    changeRuns(std::move(after), text);
    selectRun(0);
}

void Lab::addRun(const Recipe& recipe) {
    std::vector<LabRun> after = runs_;
    after.push_back(makeRun(freshId(), recipe));
    used_ids_.insert(after.back().id);
    changeRuns(std::move(after), tr("compare with %1").arg(QString::fromStdString(default_run_name(recipe))));
}

void Lab::importModel(const QString& path) {
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = session_token_, path] { io->importModel(token, path); });
}

void Lab::addImported(const QString& path, const ImportedModel& model) {
    try {
        Recipe recipe = model.recipe;
        complete_and_validate(recipe);
        const std::string name = QFileInfo(path).completeBaseName().toStdString();
        std::vector<LabRun> after = runs_;
        after.push_back(makeRun(freshId(), recipe));
        after.back().weights =
            std::make_shared<const StartWeights>(StartWeights{name, path.toStdString(), model.weights});
        used_ids_.insert(after.back().id);
        changeRuns(std::move(after), tr("import %1").arg(QFileInfo(path).fileName()));
        selectRun(static_cast<int>(runs_.size()) - 1);
    } catch (const std::exception& error) {
        Q_EMIT problem(tr("%1: %2").arg(path, QString::fromUtf8(error.what())));
    }
}

void Lab::removeRun(int index) {
    if (runs_.size() < 2 || index < 0 || index >= static_cast<int>(runs_.size())) return;
    if (runs_[static_cast<std::size_t>(index)].underWay()) {
        Q_EMIT problem(tr("A run in training can not be removed: stop it first"));
        return;
    }
    std::vector<LabRun> after = runs_;
    after.erase(after.begin() + index);
    changeRuns(
        std::move(after),
        tr("remove %1").arg(QString::fromStdString(runs_[static_cast<std::size_t>(index)].data->name)));
}

void Lab::loadPreset(const QString& name) {
    try {
        useRecipe(load_recipe(name.toStdString()), tr("preset %1").arg(name));
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void Lab::useRecipe(const Recipe& recipe, const QString& text) {
    std::vector<LabRun> after = runs_;
    LabRun& run = after[static_cast<std::size_t>(selected_run_)];
    if (run.trained() || run.underWay() || run.pinned) {
        run.recipe = recipe;
        run.pinned = false;
        run.weights.reset();
    } else {
        run = makeRun(run.id, recipe);
    }
    changeRuns(std::move(after), text);
}

void Lab::pinSelected() {
    LabRun copy = selected();
    copy.id = freshId();
    used_ids_.insert(copy.id);
    copy.data = std::make_shared<RunData>(*copy.data);
    copy.data->id = copy.id;
    copy.data->name += " (pinned)";
    if (copy.underWay())
        copy.data->outcome = {RunState::Interrupted, lastStep(), "pinned while it trained", -1};
    copy.recipe = copy.live;
    copy.preview.reset();
    copy.pinned = true;
    std::vector<LabRun> after = runs_;
    after.insert(after.begin() + selected_run_ + 1, std::move(copy));
    changeRuns(std::move(after), tr("pin"));
}

void Lab::forkSelected() {
    const LabRun& run = selected();
    const KnownCheckpoint* best = nullptr;
    for (const auto& known : run.checkpoints)
        if (known.step <= step_ && (!best || known.step > best->step)) best = &known;
    if (!best) {
        Q_EMIT problem(
            tr("%1 has no checkpoint at or before this step: one is taken every ten seconds, at a pause "
               "and at the end")
                .arg(QString::fromStdString(run.data->name)));
        return;
    }
    if (!sameButHot(run.live, run.recipe)) {
        Q_EMIT problem(
            tr("A fork keeps the stack: only Δt, τ, ε, learning rate, weight decay and clip may differ"));
        return;
    }
    LabRun fork = run;
    fork.id = freshId();
    used_ids_.insert(fork.id);
    fork.data = std::make_shared<RunData>(*run.data);
    fork.data->id = fork.id;
    fork.data->name = default_run_name(fork.recipe) + ", fork at " + std::to_string(best->step);
    const CheckpointSource source = best->source;
    forks_[++fork_token_] = {run.id, std::move(fork)};
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = fork_token_, source] { io->loadCheckpoint(token, source); });
}

void Lab::takeForkCheckpoint(quint64 token, const CheckpointPtr& checkpoint) {
    auto waiting = forks_.extract(token);
    if (!waiting || !checkpoint) return;  // of another session, or unreadable
    auto& [parent, run] = waiting.mapped();
    auto history = std::make_shared<RunData>(*run.data);
    cut_after(*history, checkpoint->step - 1);
    history->outcome = {RunState::Running, -1, "", -1};
    run.data = history;
    run.preview.reset();
    run.checkpoints = {{checkpoint->step, {run.id, checkpoint}}};
    RunPlan continued{run.id,
                      run.data->name,
                      parse_recipe(run.data->recipe_json, "run " + run.id),
                      std::make_shared<const RunData>(*history),
                      checkpoint,
                      hotKnobs(run.recipe)};
    run.live = run.recipe;
    std::vector<LabRun> after = runs_;
    // The knobs that moved went with the fork; those that the parent moved since are its own.
    for (LabRun& other : after)
        if (other.id == parent && sameRecipe(other.recipe, run.recipe)) other.recipe = other.live;
    after.push_back(std::move(run));
    changeRuns(std::move(after), tr("fork"));
    begin({continued});
}

// --- what is looked at

void Lab::setStep(qint64 step) {
    const qint64 next = step >= lastStep() ? kNewest : std::max<qint64>(0, step);
    if (next == step_) return;
    step_ = next;
    Q_EMIT viewChanged();
}

void Lab::selectLayer(int layer, int head) {
    if (layer == selected_layer_ && head == selected_head_) return;
    selected_layer_ = layer;
    selected_head_ = head;
    Q_EMIT viewChanged();
}

QString Lab::hint() const {
    double seconds = 0;
    int untrained = 0;
    for (const LabRun& run : runs_) {
        if (run.trained() || run.pinned) continue;
        ++untrained;
        const TrainSpec& train = run.recipe.train;
        // The two cheap probes are charged most of a forward and backward pass over the probe batch, which
        // holds up to eight sequences; a step takes a whole batch.
        for (const char* probe : {"growth", "gradients"})
            if (const ProbeResult* sample = run.data->sample_at(probe, 0))
                seconds += sample->cost_ms / 1e3 * train.steps * train.accumulate * train.batch /
                           std::min(train.batch * train.accumulate, kProbeSequences);
    }
    if (untrained == 0) return {};
    const QString who = untrained == 1   ? tr("Space trains it")
                        : untrained == 2 ? tr("Space trains both")
                                         : tr("Space trains all");
    return seconds > 0
               ? tr("%1, about %2 s").arg(who).arg(std::max(1, static_cast<int>(std::lround(seconds))))
               : who;
}

widgets::PanelInput Lab::panelInput(const std::string& panel, const widgets::PanelOptions& options) const {
    widgets::PanelInput input;
    for (const LabRun& run : runs_) {
        input.runs.push_back(run.data.get());
        const auto ghost = ghosts_.find(run.id);
        input.ghosts.push_back(ghost == ghosts_.end() ? nullptr : ghost->second.get());
        input.previews.push_back(run.preview.get());
        const auto& probes = widgets::panelInfo(panel).probes;
        const bool outdated = std::any_of(probes.begin(), probes.end(), [&](const std::string& probe) {
            const auto measured = run.measured_for.find(probe);
            return measured != run.measured_for.end() && measured->second < explore_generation_;
        });
        input.draft.push_back(!run.trained() && !run.underWay() && !run.pinned && outdated);
        input.awaited.push_back(!exact_ && !run.trained() && !run.underWay() && !run.pinned &&
                                run.refusal.empty());
    }
    input.step = step_;
    input.exploring = exploring();
    input.hint = hint();
    input.selected_layer = selected_layer_;
    input.selected_head = selected_head_;
    input.options = options;
    return input;
}

}  // namespace normscope::app
