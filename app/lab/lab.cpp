// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab.h"

#include "app/lab/change_runs.h"
#include "app/lab/claims_check.h"
#include "app/lab/files/file_calls.h"
#include "app/lab/gallery_runs.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/probe/registry.h"
#include "core/run/complete.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace normscope::app {

namespace {

constexpr int kUndoLimit = 100;  // an entry may hold the recorded data of runs that were replaced

int threadsFor(int wanted) {
    const int threads =
        wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
    set_default_threads(threads);  // the initial weights are drawn outside the engine's pool
    return threads;
}

std::vector<LabRun> defaultRuns() {
    return {makeRun("a", load_recipe("pre-ln")), makeRun("b", load_recipe("post-ln"))};
}

}  // namespace

Lab::Lab(Options options, QObject* parent)
    : QObject(parent),
      deliver_(options.deliver ? std::move(options.deliver)
                               : [](const std::function<void()>& reply) { reply(); }),
      backend_(std::move(options.backend)),
      outline_above_(options.outline_above),
      io_("files", options.recordings_folder),
      engine_("engine", threadsFor(options.threads)),
      sweeps_(std::make_unique<SweepRunner>(callsIn(io_.get()))) {
    undo_.setUndoLimit(kUndoLimit);
    connect(&undo_, &QUndoStack::indexChanged, this, [this] { files_.edited(); });
    connectReplies();
    findDevices();
    now_.runs = defaultRuns();
    for (const LabRun& run : now_.runs) used_ids_.insert(run.id);
    nameUntrained(now_);
    claims_ =
        std::make_unique<ClaimsCheck>(*this, requests_, engine_->threads(), callsIn(io_.get()), deliver_);
    gallery_ = std::make_unique<GalleryRuns>(
        *this, requests_, GalleryRuns::folderFor(options.recordings_folder), callsIn(io_.get()), deliver_);
}

Lab::~Lab() {
    disconnect(&undo_, nullptr, this, nullptr);
    cancelReading();
    claims_.reset();
    gallery_.reset();
    sweeps_.reset();
    engine_->shutDown();
    engine_->stop();
    engine_.drain();
    io_.drain();
}

void Lab::connectReplies() {
    EngineWorker* engine = engine_.get();
    IoWorker* io = io_.get();
    // Each reply is applied by deliver_, with a copy of its arguments.
    const auto on = [this](auto* sender, auto signal, auto member) {
        connect(sender, signal, this, [this, member](const auto&... arguments) {
            deliver_([this, member, arguments...] { (this->*member)(arguments...); });
        });
    };
    connect(engine, &EngineWorker::frameReady, this, [this](const FramePtr& frame) {
        engine_->frameShown();
        deliver_([this, frame] { applyFrame(frame); });
    });
    on(engine, &EngineWorker::devicesFound, &Lab::applyDevices);
    on(engine, &EngineWorker::rejected, &Lab::applyRejected);
    on(engine, &EngineWorker::startRejected, &Lab::applyStartRejected);
    on(engine, &EngineWorker::replayed, &Lab::applyReplayed);
    on(engine, &EngineWorker::measured, &Lab::applyMeasured);
    on(engine, &EngineWorker::drafted, &Lab::applyDrafted);
    connect(this, &Lab::runsChanged, this, &Lab::updateRemedies);
    // Data to record does not pass through the interface thread, which may be busy.
    connect(engine, &EngineWorker::recordingWaits, io, [io, queue = engine->recordings()] {
        // A copy of this thread's own: the connection's is released by the engine's thread when it ends.
        const auto held = queue;
        io->record(held);
    });
    on(io, &IoWorker::notRecorded, &Lab::applyNotRecorded);
    on(io, &IoWorker::recordingBegun, &Lab::applyRecordingBegun);
    on(io, &IoWorker::sessionSaved, &Lab::applySaved);
    on(io, &IoWorker::savingFailed, &Lab::applySavingFailed);
    on(io, &IoWorker::sessionOpened, &Lab::applyOpened);
    on(io, &IoWorker::remainderRead, &Lab::applyRemainder);
    on(io, &IoWorker::runsRecovered, &Lab::applyRecovered);
    on(io, &IoWorker::runsRestored, &Lab::applyRestored);
    on(io, &IoWorker::windowSaved, &Lab::applyWindowSaved);
    connect(io, &IoWorker::recordingsListed, this, &Lab::recordingsListed);
    connect(io, &IoWorker::curveRead, this, &Lab::curveRead);
    connect(io, &IoWorker::recordingTrashed, this, &Lab::recordingTrashed);
    on(io, &IoWorker::modelImported, &Lab::applyImported);
    on(io, &IoWorker::checkpointLoaded, &Lab::applyCheckpoint);
    on(io, &IoWorker::checkpointsFetched, &Lab::applyFetched);
    connect(io, &IoWorker::problem, this, &Lab::problem);
    connect(io, &IoWorker::interruptedFound, this, &Lab::interruptedFound);
}

// --- the comparison

std::string Lab::newId() {
    for (int i = 0;; ++i) {
        std::string id;
        for (int n = i; n >= 0; n = n / 26 - 1) id.insert(id.begin(), static_cast<char>('a' + n % 26));
        if (!now_.find(id) && used_ids_.insert(id).second) return id;
    }
}

void Lab::selectRun(int index) {
    if (index < 0 || index >= static_cast<int>(now_.runs.size()) || index == now_.selected) return;
    now_.selected = index;
    Q_EMIT runsChanged();
    Q_EMIT viewChanged();
}

void Lab::setLinked(bool linked) {
    if (now_.linked == linked) return;
    now_.linked = linked;
    Q_EMIT runsChanged();
}

std::vector<LabRun> Lab::stopRemovedRuns(std::vector<LabRun> before, const Comparison& after) {
    std::vector<std::string> ids;
    for (LabRun& run : before) {
        if (!run.isTraining() || after.find(run.id)) continue;
        ids.push_back(run.id);
        run = stopped(std::move(run));  // its last frame is dropped
    }
    if (ids.empty()) return before;
    engine_->stop(ids);
    training_.setPlaying(training_.playing() && after.anyTraining());
    return before;
}

void Lab::commit(Comparison after, const QString& text, std::optional<QString> previous_path) {
    if (drag_) {
        // The recipe changed by this edit is the new base of the drag.
        for (const LabRun& run : after.runs)
            if (const LabRun* now = now_.find(run.id); now && !same_recipe(now->recipe, run.recipe))
                drag_->before[run.id] = run.recipe;
    }
    if (!drag_) clearGhosts();
    std::vector<LabRun> before = stopRemovedRuns(now_.runs, after);
    const std::string selected_before = selected().id;
    now_ = std::move(after);
    assertSound(now_);
    undo_.push(new ChangeRuns(*this, beforeDrag(std::move(before)), beforeDrag(now_.runs), text,
                              selected_before, std::move(previous_path)));
    applyRecipes();
    Q_EMIT viewChanged();
}

std::vector<LabRun> Lab::restoreRuns(const std::vector<LabRun>& runs, const std::string& selected) {
    if (!drag_) clearGhosts();
    Comparison after = restored(now_, runs);
    if (const LabRun* then = after.find(selected); then && !after.find(now_.selectedRun().id))
        after.selected = static_cast<int>(then - after.runs.data());
    std::vector<LabRun> before = stopRemovedRuns(now_.runs, after);
    now_ = std::move(after);
    assertSound(now_);
    if (drag_)
        for (const LabRun& run : now_.runs) drag_->before[run.id] = run.recipe;
    applyRecipes();
    Q_EMIT viewChanged();
    readRemainder();
    return before;
}

void Lab::compare(const std::vector<Recipe>& recipes, const QString& text,
                  const std::vector<std::string>& names) {
    std::vector<LabRun> runs;
    for (const Recipe& recipe : recipes) runs.push_back(makeRun(newId(), recipe));
    for (std::size_t i = 0; i < std::min(runs.size(), names.size()); ++i) runs[i].given_name = names[i];
    step_ = kNewest;
    commit(withRuns(now_, std::move(runs)), text);
    selectRun(0);
}

void Lab::addRun(const Recipe& recipe) {
    Comparison after = now_;
    after.runs.push_back(makeRun(newId(), recipe));
    commit(std::move(after), tr("compare with %1").arg(QString::fromStdString(default_run_name(recipe))));
}

void Lab::addSeeds(int count) {
    commit(withSeeds(now_, count, [this] { return newId(); }), tr("add %n seed(s)", nullptr, count));
}

void Lab::removeRun(int index) {
    if (now_.runs.size() < 2 || index < 0 || index >= static_cast<int>(now_.runs.size())) return;
    const LabRun& run = now_.runs[static_cast<std::size_t>(index)];
    if (run.isTraining()) {
        Q_EMIT problem(tr("A run in training cannot be removed: stop it first"));
        return;
    }
    const QString text = tr("remove %1").arg(QString::fromStdString(run.data->name));
    std::vector<LabRun> runs = now_.runs;
    runs.erase(runs.begin() + index);
    commit(withRuns(now_, std::move(runs)), text);
}

void Lab::loadPreset(const QString& name) {
    try {
        useRecipe(load_recipe(name.toStdString()), tr("preset %1").arg(name));
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void Lab::useRecipe(const Recipe& recipe, const QString& text) {
    commit(withRecipe(now_, recipe), text);
}

void Lab::pinSelected() {
    commit(withPinned(now_, newId()), tr("duplicate as reference"));
}

// --- training

bool Lab::exploring() const {
    return std::none_of(now_.runs.begin(), now_.runs.end(), [](const LabRun& run) { return run.trained(); });
}

qint64 Lab::lastStep() const {
    qint64 last = -1;
    for (const LabRun& run : now_.runs) last = std::max<qint64>(last, run.lastStep());
    return last;
}

void Lab::begin(std::vector<RunPlan> plans, Training::Data before) {
    for (RunPlan& plan : plans)
        if (plan.backend.empty()) plan.backend = backend_;
    const std::uint64_t token = training_.begin(now_, plans, std::move(before));
    for (const RunPlan& plan : plans) used_ids_.insert(plan.id);
    clearGhosts();
    step_ = kNewest;
    engine_->train(token, std::move(plans));
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

void Lab::play() {
    const Act act = nextAct();
    if (act == Act::Pause) return;
    if (act == Act::Continue) {
        training_.setPlaying(true);
        step_ = kNewest;
        engine_->setPaused(false);
        Q_EMIT runsChanged();  // running again
        Q_EMIT trainingChanged();
        return;
    }
    std::vector<RunPlan> plans;
    std::vector<std::string> ended;
    for (const LabRun& run : now_.runs) {
        if (run.resumable()) ended.push_back(run.id);
        if (run.trained() || run.pinned || act != Act::Train) continue;
        if (run.needsFile())
            Q_EMIT problem(tr("Choose a text file for %1 first").arg(QString::fromStdString(run.data->name)));
        else
            plans.push_back(planOf(run));
    }
    if (!plans.empty())
        begin(std::move(plans));
    else if (act == Act::StartAsNew)
        startAsNewRun();
    else if (act == Act::ResumeEnded)
        resumeRuns(ended);
    else if (act == Act::None)
        Q_EMIT problem(tr("Every run has ended: change a knob and start a new run, or fork one (K)"));
}

/// A run that cannot be trained as it is does not keep the others from it.
Lab::Act Lab::nextAct() const {
    if (playing()) return Act::Pause;
    if (anyTraining()) return Act::Continue;
    bool fresh = false, ready = false, ended = false;
    for (const LabRun& run : now_.runs) {
        if (run.pinned) continue;
        fresh |= !run.trained();
        ready |= !run.trained() && !run.needsFile() && run.rejection.empty();
        ended |= run.resumable();
    }
    if (ready) return Act::Train;
    if (changesPending()) return Act::StartAsNew;
    if (ended) return Act::ResumeEnded;
    return fresh ? Act::Train : Act::None;  // which states what they lack
}

void Lab::pause() {
    if (!playing()) return;
    training_.setPlaying(false);
    engine_->setPaused(true);
    Q_EMIT runsChanged();  // paused
    Q_EMIT trainingChanged();
}

void Lab::togglePlay() {
    playing() ? pause() : play();
}

void Lab::singleStep() {
    if (!anyTraining()) {
        play();
        if (!playing()) return;
    }
    training_.setPlaying(false);
    step_ = kNewest;
    engine_->singleStep();
    Q_EMIT runsChanged();  // paused
    Q_EMIT trainingChanged();
}

void Lab::stop() {
    training_.setPlaying(false);
    engine_->stop();
    Q_EMIT trainingChanged();
}

void Lab::startAsNewRun() {
    NewRuns started = asNewRuns(now_, [this] { return newId(); });
    if (started.fresh.empty()) return;
    commit(std::move(started.after), tr("start as new run"));
    std::vector<RunPlan> plans;
    for (const std::string& id : started.fresh) plans.push_back(planOf(*now_.find(id)));
    begin(std::move(plans));
}

// --- replies of the engine

void Lab::applyFrame(const FramePtr& frame) {
    if (frame->number == 0) return takeInOrder(frame);
    if (frame->number < next_frame_) return;  // already applied
    early_.emplace(frame->number, frame);
    while (!early_.empty() && early_.begin()->first == next_frame_) {
        ++next_frame_;
        const FramePtr next = early_.extract(early_.begin()).mapped();
        takeInOrder(next);
    }
}

void Lab::takeInOrder(const FramePtr& frame) {
    const bool explored = frame->kind == Frame::Kind::Explore;
    if (explored && !exploration_.answers(*frame)) return;
    Q_EMIT frameArrived(frame);
    emitChanges(explored ? exploration_.take(*frame, now_)
                         : training_.take(*frame, now_, exploration_.probes(), exploration_.generation()));
    for (const LabRun& run : now_.runs) training_time_.note(run);
    Q_EMIT frameTaken(frame);
    if (exploration_.again()) requestExplore();
}

void Lab::emitChanges(const Changes& changes) {
    if (changes.results) files_.recorded();
    if (changes.runs) Q_EMIT runsChanged();
    if (changes.failures) Q_EMIT runsFailed();
    if (!changes.watched.isEmpty()) {
        pause();  // as the engine did, and with checkpoints
        Q_EMIT watchTriggered(changes.watched);
    }
    if (changes.notices) Q_EMIT noticesChanged();
    for (const QString& line : changes.problems) Q_EMIT problem(line);
    Q_EMIT trainingChanged();
    Q_EMIT dataChanged(QStringList(changes.panels.begin(), changes.panels.end()));
}

void Lab::applyRejected(quint64 generation, const QString& message) {
    if (exploration_.rejected(generation)) {
        Q_EMIT problem(message);
        if (exploration_.again()) requestExplore();
    }
}

void Lab::applyStartRejected(quint64 token, const QString& id, const QString& message) {
    if (!training_.rejected(token, id.toStdString(), now_)) return;
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
    Q_EMIT problem(message);
}

void Lab::applyNotRecorded(quint64 training, const QString& id, const QString& line) {
    LabRun* run = now_.find(id.toStdString());
    if (run && run->training != training) run = nullptr;
    if (run && run->not_recorded == line.toStdString()) return;
    Q_EMIT problem(line);
    if (!run) return;
    run->not_recorded = line.toStdString();
    Q_EMIT noticesChanged();
}

// --- view

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

}  // namespace normscope::app
