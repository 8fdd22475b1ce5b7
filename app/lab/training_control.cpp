// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/training_control.h"

#include "app/lab/devices.h"
#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/state/run_length.h"
#include "core/recipe/hot_knobs.h"
#include "core/session/recording/recovery.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

TrainingControl::TrainingControl(LabState& state, Edits& edits, const Devices& devices)
    : state_(state),
      edits_(edits),
      devices_(devices),
      resumptions_(state.requests, "resume", Pending<ResumedRun>::Replies::OfEach) {
    state_.onReply(state_.engine(), &Engine::startRejected, this, &TrainingControl::applyStartRejected);
    state_.onReply(state_.io(), &IoWorker::checkpointLoaded, this, &TrainingControl::applyCheckpoint);
}

bool TrainingControl::playing() const {
    return state_.training.playing();
}

double TrainingControl::stepMs() const {
    return state_.training.stepMs();
}

double TrainingControl::probeOverhead() const {
    return state_.training.probeOverhead();
}

DeviceUse TrainingControl::deviceUse() const {
    return state_.training.deviceUse();
}

void TrainingControl::begin(std::vector<RunPlan> plans, Training::Data before) {
    for (RunPlan& plan : plans)
        if (plan.backend.empty()) plan.backend = devices_.chosen();
    const std::uint64_t token = state_.training.begin(state_.now, plans, std::move(before));
    for (const RunPlan& plan : plans) state_.used_ids.insert(plan.id);
    state_.ghosts = {};
    state_.shown.step = ShownPosition::kNewest;
    state_.engine()->train(token, std::move(plans));
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
}

void TrainingControl::play() {
    const Act act = nextAct();
    if (act == Act::Pause) return;
    if (act == Act::Continue) {
        state_.training.setPlaying(true);
        state_.shown.step = ShownPosition::kNewest;
        state_.engine()->setPaused(false);
        Q_EMIT state_.runsChanged();  // running again
        Q_EMIT state_.trainingChanged();
        return;
    }
    std::vector<RunPlan> plans;
    std::vector<std::string> ended;
    for (const LabRun& run : state_.now.runs) {
        if (run.resumable()) ended.push_back(run.id);
        if (run.trained() || run.fixed() || act != Act::Train) continue;
        if (run.needsFile())
            Q_EMIT state_.problem(
                (run.recipe.stack.of_images() ? tr("Choose the folder of CIFAR-10's files for %1 first")
                 : run.recipe.train.data.source == DataSource::Tokens ? tr("Choose a token file for %1 first")
                                                                      : tr("Choose a text file for %1 first"))
                    .arg(QString::fromStdString(run.data->name)));
        else
            plans.push_back(planOf(run));
    }
    if (!plans.empty())
        begin(std::move(plans));
    else if (act == Act::StartNew)
        startNewRuns();
    else if (act == Act::StartAgain)
        replaceRuns();
    else if (act == Act::ResumeEnded)
        resumeRuns(ended);
    else if (act == Act::MoreSteps)
        trainFurther();
    else if (act == Act::Follow)
        Q_EMIT state_.problem(tr("Another process trains: its runs are shown live"));
    else if (act == Act::None)
        Q_EMIT state_.problem(tr("Every run has ended: change a knob and start a new run, or fork one (K)"));
}

/// A run that cannot be trained as it is does not keep the others from it.
TrainingControl::Act TrainingControl::nextAct() const {
    if (playing()) return Act::Pause;
    if (state_.now.anyTraining()) return Act::Continue;
    bool fresh = false, ready = false, ended = false, followed = false;
    for (const LabRun& run : state_.now.runs) {
        followed |= run.followed != nullptr;
        if (run.fixed()) continue;
        fresh |= !run.trained();
        ready |= !run.trained() && !run.needsFile() && run.rejection.empty();
        ended |= run.resumable();
    }
    if (ready) return Act::Train;
    if (state_.now.changesPending()) return replaces_ ? Act::StartAgain : Act::StartNew;
    if (ended) return Act::ResumeEnded;
    if (fresh) return Act::Train;  // which states what they lack
    if (moreSteps() > 0) return Act::MoreSteps;
    return followed ? Act::Follow : Act::None;
}

int TrainingControl::moreSteps() const {
    int fewest = 0;
    for (const LabRun& run : state_.now.runs)
        if (const int steps = furtherSteps(run); steps > 0)
            fewest = fewest > 0 ? std::min(fewest, steps) : steps;
    return fewest;
}

void TrainingControl::trainFurther(const std::string& backend) {
    std::vector<std::string> ids;
    for (const LabRun& run : state_.now.runs)
        if (furtherSteps(run) > 0) ids.push_back(run.id);
    resume(ids, backend, moreSteps());
}

void TrainingControl::pause() {
    if (!playing()) return;
    state_.training.setPlaying(false);
    state_.engine()->setPaused(true);
    Q_EMIT state_.runsChanged();  // paused
    Q_EMIT state_.trainingChanged();
}

void TrainingControl::togglePlay() {
    playing() ? pause() : play();
}

void TrainingControl::singleStep() {
    if (!state_.now.anyTraining()) {
        play();
        if (!playing()) return;
    }
    state_.training.setPlaying(false);
    state_.shown.step = ShownPosition::kNewest;
    state_.engine()->singleStep();
    Q_EMIT state_.runsChanged();  // paused
    Q_EMIT state_.trainingChanged();
}

void TrainingControl::stop() {
    state_.training.setPlaying(false);
    state_.engine()->stop();
    Q_EMIT state_.trainingChanged();
}

void TrainingControl::startNewRuns() {
    start(withNewRuns(state_.now, [this] { return state_.newId(); }), tr("start new run"));
}

void TrainingControl::replaceRuns() {
    start(withReplacedRuns(state_.now, [this] { return state_.newId(); }), tr("replace run"));
}

void TrainingControl::setReplacesRuns(bool replaces) {
    if (std::exchange(replaces_, replaces) != replaces) Q_EMIT state_.trainingChanged();
}

void TrainingControl::start(NewRuns runs, const QString& text) {
    if (runs.fresh.empty()) return;
    edits_.commit(std::move(runs.after), text);
    std::vector<RunPlan> plans;
    for (const std::string& id : runs.fresh) plans.push_back(planOf(*state_.now.find(id)));
    begin(std::move(plans));
}

void TrainingControl::applyStartRejected(quint64 token, const QString& id, const QString& message) {
    if (!state_.training.rejected(token, id.toStdString(), state_.now)) return;
    if (LabRun* run = state_.now.find(id.toStdString()); run && run->data->outcome.state != RunState::Running)
        if (run->lastStep() + 1 < run->live.train.steps && !run->resumable()) planRecordedSteps(*run);
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
    Q_EMIT state_.problem(message);
}

// --- runs that failed

std::vector<std::pair<std::string, QString>> TrainingControl::failedRuns() const {
    std::vector<std::pair<std::string, QString>> failed;
    for (const LabRun& run : state_.now.runs)
        if (run.data->outcome.state == RunState::Failed && run.resumable())
            failed.emplace_back(run.id, tr("%1 failed at step %2: %3")
                                            .arg(QString::fromStdString(run.data->name))
                                            .arg(run.data->outcome.step)
                                            .arg(QString::fromStdString(run.data->outcome.text)));
    return failed;
}

bool TrainingControl::belongs(const LabRun& run, const Resumption& resumption) {
    return resumption.more_steps > 0 ? furtherSteps(run) > 0 : run.resumable();
}

void TrainingControl::resumeRuns(const std::vector<std::string>& ids, const std::string& backend) {
    resume(ids, backend, 0);
}

void TrainingControl::resume(const std::vector<std::string>& ids, const std::string& backend,
                             int more_steps) {
    auto resumption = std::make_shared<Resumption>();
    resumption->backend = backend;
    resumption->more_steps = more_steps;
    for (const std::string& id : ids) {
        const LabRun* run = state_.now.find(id);
        if (!run || !belongs(*run, *resumption)) continue;
        if (resumptions_.any([&](const ResumedRun& resumed) { return resumed.id == id; })) continue;
        if (run->data->unread) {
            Q_EMIT state_.problem(notReadYet(state_.now));
            continue;
        }
        const auto newest = std::max_element(run->checkpoints.begin(), run->checkpoints.end(),
                                             [](const auto& a, const auto& b) { return a.step < b.step; });
        if (newest != run->checkpoints.end() && newest->step > 0) {
            ++resumption->unread;
            QMetaObject::invokeMethod(state_.io(),
                                      [io = state_.io(), token = resumptions_.ask({id, resumption}),
                                       source = newest->source] { io->loadCheckpoint(token, source); });
        } else {
            resumption->runs.emplace_back(id, nullptr);
        }
    }
    if (resumption->unread == 0) beginResumed(*resumption);
}

void TrainingControl::beginResumed(const Resumption& resumption) {
    std::vector<RunPlan> plans;
    Training::Data before;
    const std::vector<LabRun> shorter = state_.now.runs;
    for (const auto& [id, checkpoint] : resumption.runs) {
        LabRun* run = state_.now.find(id);
        if (!run || !belongs(*run, resumption)) continue;  // removed, resumed or changed since
        before[id] = run->data;
        if (checkpoint) {
            auto history = std::make_shared<RunData>(*run->data);
            cut_after(*history, checkpoint->step - 1);
            if (resumption.more_steps > 0)
                planSteps(*run, *history, static_cast<int>(checkpoint->step) + resumption.more_steps);
            run->data = history;
        }
        RunPlan plan = planOf(*run);
        if (checkpoint) {
            const auto& history = run->data;
            plan.recipe = history->recipe.value("run " + id);
            plan.recipe.watch = run->live.watch;
            plan.recipe.interventions = run->live.interventions;
            plan.history = std::make_shared<const RunData>(*history);
            plan.start = checkpoint;
            plan.knobs = hot_knobs(run->live);
        } else {
            run->data = makeRun(id, run->live).data;
            run->data->name = before[id]->name;
            plan.recipe = run->live;
        }
        plan.recording = run->recording;
        plan.backend = resumption.backend;
        plans.push_back(std::move(plan));
    }
    if (plans.empty()) return;
    if (resumption.more_steps > 0) edits_.push(shorter, tr("%1 more steps").arg(resumption.more_steps));
    begin(std::move(plans), std::move(before));
}

/// Null: unreadable, which was reported.
void TrainingControl::applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint) {
    const auto resumed = resumptions_.take(token);
    if (!resumed) return;
    Resumption& resumption = *resumed->with;
    if (checkpoint) resumption.runs.emplace_back(resumed->id, checkpoint);
    if (--resumption.unread == 0) beginResumed(resumption);
}

}  // namespace normscope::app
