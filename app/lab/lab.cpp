// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab.h"

#include "app/lab/claims_check.h"
#include "app/lab/files/file_calls.h"
#include "app/lab/gallery_runs.h"
#include "app/lab/healthy_reference.h"
#include "app/lab/notes.h"
#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/state/outlines.h"
#include "core/backend/cpu/host/available_cores.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/recipe/presets.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

int threadsFor(int wanted) {
    const int threads = wanted > 0 ? wanted : std::max(1, available_cores() - 1);
    set_default_threads(threads);  // the initial weights are drawn outside the engine's pool
    return threads;
}

std::vector<LabRun> defaultRuns() {
    return {makeRun("a", load_recipe(kDefaultComparison[0])),
            makeRun("b", load_recipe(kDefaultComparison[1]))};
}

LabState::Deliver deliveryOf(LabState::Deliver wanted) {
    return wanted ? std::move(wanted) : [](const std::function<void()>& reply) { reply(); };
}

}  // namespace

Lab::Lab(Options options, QObject* parent)
    : QObject(parent),
      state_(std::make_unique<LabState>(threadsFor(options.threads), options.recordings_folder,
                                        deliveryOf(std::move(options.deliver)))),
      outlines_(std::make_unique<Outlines>(*state_)),
      edits_(std::make_unique<Edits>(*state_, *outlines_)),
      runs_(std::make_unique<RunList>(*state_, *edits_)),
      knobs_(std::make_unique<Knobs>(*state_, *edits_)),
      devices_(std::make_unique<Devices>(*state_, std::move(options.backend))),
      training_(std::make_unique<TrainingControl>(*state_, *edits_, *devices_)),
      forks_(std::make_unique<Forks>(*state_, *edits_, *training_)),
      remedies_(std::make_unique<Remedies>(*state_, *edits_, *training_, *forks_)),
      healthy_(std::make_unique<HealthyReference>(*state_)),
      view_(std::make_unique<LabView>(*state_, *healthy_)),
      measurement_(std::make_unique<Measurement>(*state_)),
      notes_(std::make_unique<Notes>(*state_)),
      session_(std::make_unique<LabSession>(
          *state_,
          LabSession::Parts{*edits_, *outlines_, *knobs_, *training_, *measurement_, *remedies_, *notes_},
          options.outline_above)),
      recordings_(std::make_unique<Recordings>(*state_, *edits_)),
      following_(std::make_unique<Following>(*state_)),
      sweeps_(std::make_unique<SweepRunner>(callsIn(state_->io()), *state_->engine(), state_->deliver())) {
    connectState();
    devices_->find();
    state_->now.runs = defaultRuns();
    for (const LabRun& run : state_->now.runs) state_->used_ids.insert(run.id);
    nameUntrained(state_->now);
    claims_ = std::make_unique<ClaimsCheck>(*this, state_->requests, devices_->engineThreads(),
                                            callsIn(state_->io()), state_->deliver());
    gallery_ = std::make_unique<GalleryRuns>(*sweeps_, *devices_, state_->requests,
                                             GalleryRuns::folderFor(options.recordings_folder),
                                             callsIn(state_->io()), state_->deliver());
}

Lab::~Lab() {
    outlines_->cancel();
    claims_.reset();
    gallery_.reset();
    sweeps_.reset();
    state_->stopWorkers();
}

/// The parts' own connections come before: they are up to date when a listener of Lab is called.
void Lab::connectState() {
    const LabState* state = state_.get();
    connect(state, &LabState::runsChanged, this, &Lab::runsChanged);
    connect(state, &LabState::dataChanged, this, &Lab::dataChanged);
    connect(state, &LabState::viewChanged, this, &Lab::viewChanged);
    connect(state, &LabState::trainingChanged, this, &Lab::trainingChanged);
    connect(state, &LabState::noticesChanged, this, &Lab::noticesChanged);
    connect(state, &LabState::problem, this, &Lab::problem);
    connect(state, &LabState::explorationRequested, this, &Lab::explorationRequested);
    Engines* engine = state_->engine();
    connect(engine, &Engine::frameReady, this, [this, engine](const FramePtr& frame) {
        engine->frameShown(frame->engine);
        state_->deliver()([this, frame] { applyFrame(frame); });
    });
    state_->onReply(engine, &Engine::rejected, this, &Lab::applyRejected);
    connect(engine, &Engines::connectionChanged, this, &Lab::connectionChanged);
}

const Comparison& Lab::comparison() const {
    return state_->now;
}

std::vector<std::string> Lab::waitingRequests() const {
    return state_->requests.waiting();
}

// --- replies of the engine

void Lab::applyFrame(const FramePtr& frame) {
    if (frame->number == 0) return takeInOrder(frame);
    Arrivals& of = arrivals_[frame->engine];
    if (frame->number < of.next) return;  // already applied
    of.early.emplace(frame->number, frame);
    while (!of.early.empty() && of.early.begin()->first == of.next) {
        ++of.next;
        const FramePtr next = of.early.extract(of.early.begin()).mapped();
        takeInOrder(next);
    }
}

void Lab::takeInOrder(const FramePtr& frame) {
    LabState& state = *state_;
    const bool explored = frame->kind == Frame::Kind::Explore;
    if (explored && !state.exploration.answers(*frame)) return;
    Q_EMIT frameArrived(frame);
    report(explored ? state.exploration.take(*frame, state.now)
                    : state.training.take(*frame, state.now, state.exploration.probes(),
                                          state.exploration.generation()));
    bool hint_changed = false;
    for (const LabRun& run : state.now.runs) hint_changed |= state.training_time.note(run);
    if (hint_changed) Q_EMIT dataChanged({QStringLiteral("training")});
    Q_EMIT frameTaken(frame);
    if (state.exploration.again()) state.requestExplore();
}

void Lab::report(const Changes& changes) {
    if (changes.results) state_->files.recorded();
    if (changes.runs) Q_EMIT state_->runsChanged();
    if (changes.failures) Q_EMIT runsFailed();
    if (!changes.watched.isEmpty()) {
        training_->pause();  // as the engine did, and with checkpoints
        Q_EMIT watchTriggered(changes.watched);
    }
    if (changes.notices) Q_EMIT state_->noticesChanged();
    for (const QString& line : changes.problems) Q_EMIT state_->problem(line);
    Q_EMIT state_->trainingChanged();
    Q_EMIT state_->dataChanged(QStringList(changes.panels.begin(), changes.panels.end()));
}

void Lab::applyRejected(quint64 generation, const QString& message) {
    if (state_->exploration.rejected(generation)) {
        Q_EMIT state_->problem(message);
        if (state_->exploration.again()) state_->requestExplore();
    }
}

}  // namespace normscope::app
