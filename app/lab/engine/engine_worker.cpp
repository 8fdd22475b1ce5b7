// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/engine_worker.h"

#include "app/lab/engine/experiments.h"
#include "core/backend/cpu/host/available_cores.h"
#include "core/backend/cpu/host/process_memory.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/run/checkpoints/checkpoint_memory.h"
#include "core/run/memory_need.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QTimer>
#include <algorithm>
#include <limits>
#include <map>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kChunk = 16ms;
constexpr auto kFrameInterval = 16ms;
constexpr auto kCheckpointInterval = 10s;
constexpr auto kDeviceUseInterval = 500ms;
constexpr int kFramesWaiting = 2;

Device& deviceOf(const RunPlan& plan) {
    return plan.backend.empty() ? cpu_device() : device_named(plan.backend);
}

/// Drops checkpoints of a waiting frame: keeps those most useful to a replay or a fork.
void thin(RunFrame& frame) {
    HeldCheckpoints run;
    run.keep = 1;
    for (const auto& checkpoint : frame.checkpoints) run.held.push_back({checkpoint->step, 1});
    for (const RunEvent& event : frame.delta.events)
        if (event.kind == "spike") run.spikes.push_back(event.step);
    auto excess = excess_checkpoints({run}, 0);
    std::sort(excess.rbegin(), excess.rend());
    for (const auto& [_, place] : excess)
        frame.checkpoints.erase(frame.checkpoints.begin() + static_cast<std::ptrdiff_t>(place));
}

/// The header of a run that continues: what was recorded so far belongs to it.
RunData withHistory(RunData header, const RunData& history) {
    header.steps = history.steps;
    header.probes = history.probes;
    header.events = history.events;
    return header;
}

/// On one core the interface is drawn between two steps: with equal shares it would wait for its turn.
void giveWay() {
    constexpr int kNice = 10;
    if (available_cores() == 1) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
}

}  // namespace

EngineWorker::EngineWorker(int threads, QObject* parent)
    : Engine(parent),
      pool_(threads),
      explore_pool_(std::min(threads + 1, std::max(threads, available_cores()))) {
    qRegisterMetaType<FramePtr>();
    qRegisterMetaType<DevicesPtr>();
    qRegisterMetaType<CheckpointPtr>();
    qRegisterMetaType<ProbeResultsPtr>();
    qRegisterMetaType<DraftResultPtr>();
    QMetaObject::invokeMethod(this, giveWay, Qt::QueuedConnection);  // in its thread
}

EngineWorker::~EngineWorker() = default;

void EngineWorker::shutDown() {
    shutting_down_ = true;
    cancel_ = true;
    cancel_measuring_ = true;
    recordings_->stop_waiting();
}

void EngineWorker::findDevices() {
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (!shutting_down_)
                Q_EMIT devicesFound(std::make_shared<const std::vector<KnownDevice>>(known_devices()));
        },
        Qt::QueuedConnection);
}

// --- training

void EngineWorker::train(std::uint64_t token, std::vector<RunPlan> runs) {
    QMetaObject::invokeMethod(
        this, [this, token, plans = std::move(runs)]() mutable { start(token, std::move(plans)); },
        Qt::QueuedConnection);
}

EngineWorker::Trained::Trained(EngineWorker& owner, RunPlan& plan)
    : engine(owner), id(plan.id), token(plan.training) {
    auto corpus = complete_and_validate(plan.recipe, &owner.corpora_);
    auto experiment = buildExperiment(plan.recipe, plan, std::move(corpus), deviceOf(plan));
    RunData header = experiment->header();
    if (plan.history) header = withHistory(std::move(header), *plan.history);
    header.outcome = {RunState::Running, -1, "", -1};
    RunStart begins{plan.start, plan.history, plan.knobs, {}, plan.weights && !plan.start};
    if (plan.start) {
        const std::string elsewhere = plan.history ? change_of_device(*plan.history, header.backend) : "";
        begins.events.push_back({plan.start->step, "resume", "from the checkpoint" + elsewhere});
    }
    if (begins.given_weights) begins.events.push_back(weightsEvent(*plan.weights));
    pending.id = id;
    pending.training = token;
    pending.header = std::make_shared<const RunData>(std::move(header));
    run = std::make_unique<Run>(std::move(experiment), std::move(begins), *this, kCheckpointInterval);
}

void EngineWorker::Trained::add(const RunDelta& delta) {
    merge(pending.delta, delta);
    for (const RunEvent& event : delta.events) engine.watch_triggered_ |= event.kind == kWatchEvent;
    if (recorded) engine.wakeRecorder(engine.recordings_->add(id, delta));
}

void EngineWorker::Trained::save(const CheckpointPtr& checkpoint) {
    pending.checkpoints.push_back(checkpoint);
    thin(pending);
    if (recorded) engine.wakeRecorder(engine.recordings_->save(id, checkpoint));
}

void EngineWorker::wakeRecorder(bool first) {
    if (first) Q_EMIT recordingWaits(recordings_);
}

/// Exceptions of a run are about its recording (e.g. no memory for a checkpoint): it trains on without.
template <class Work>
void EngineWorker::drive(Trained& trained, Work&& work) {
    const bool was_ended = trained.ended();
    std::string failure;
    try {
        work(*trained.run);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!trained.recorded || (failure.empty() && (was_ended || !trained.ended()))) return;
    trained.recorded = false;
    wakeRecorder(recordings_->end(trained.id, failure));
}

void EngineWorker::start(std::uint64_t token, std::vector<RunPlan> plans) {
    if (shutting_down_) return;
    sendTrainFrame(true);
    drop([](const Trained& run) { return run.ended(); });
#ifdef __GLIBC__
    malloc_trim(0);  // returns the replaced runs' tens of megabytes, which the allocator would keep
#endif
    std::vector<std::pair<std::unique_ptr<Trained>, std::string>> started;  // with the file that it continues
    // What is free is measured before any of them allocates.
    std::map<const Device*, double> promised;
    std::vector<RunPlan*> possible;
    const auto guarded = [&](const RunPlan& plan, const auto& work) {
        try {
            work();
        } catch (const std::exception& error) {
            Q_EMIT startRejected(token, QString::fromStdString(plan.id), QString::fromUtf8(error.what()));
        }
    };
    for (RunPlan& plan : plans)
        guarded(plan, [&] {
            complete_and_validate(plan.recipe, &corpora_);
            Device& device = deviceOf(plan);
            promised[&device] += require_device(plan.recipe, pool_.threads(), device, promised[&device]);
            possible.push_back(&plan);
        });
    for (RunPlan* plan : possible)
        guarded(*plan,
                [&] { started.emplace_back(std::make_unique<Trained>(*this, *plan), plan->recording); });
    if (started.empty()) return;
    for (auto& [run, recording] : started) {
        wakeRecorder(recordings_->begin(run->pending.header, recording, run->token));
        drive(*run, [](Run& begun) { begun.begin(); });
        trained_.push_back(std::move(run));
    }
    paused_ = false;
    single_rounds_ = 0;
    scheduleChunk();
}

bool EngineWorker::roundEnded() const {
    return std::none_of(trained_.begin(), trained_.end(),
                        [](const auto& run) { return !run->ended() && run->due > 0; });
}

/// While paused, only a round that has begun or that singleStep() asks for is computed.
bool EngineWorker::mayStep() const {
    return !paused_ || single_rounds_ > 0 || !roundEnded();
}

void EngineWorker::scheduleChunk() {
    if (chunk_scheduled_ || shutting_down_ || trained_.empty() || !mayStep()) return;
    chunk_scheduled_ = true;
    QTimer::singleShot(0, this, [this] {
        chunk_scheduled_ = false;
        chunk();
    });
}

void EngineWorker::chunk() {
    const auto end = Clock::now() + kChunk;
    bool running = true;
    // A round in which a watchpoint triggered ends here: one frame has its pause with all that triggered.
    while (running && !shutting_down_ && mayStep() && (Clock::now() < end || watch_triggered_)) {
        running = advanceOne();
        pauseAfterRound();
    }
    sendTrainFrame(!running || !mayStep());
    // Failed runs that have been reported: the others may need the memory of their device.
    drop([](const Trained& run) { return run.run->outcome().state == RunState::Failed && run.reported(); });
    if (running) scheduleChunk();
}

/// As many steps of each run: one, or what the slowest device is best given at once.
void EngineWorker::beginRound() {
    std::int64_t steps = single_rounds_ > 0 ? 1 : std::numeric_limits<std::int64_t>::max();
    for (const auto& trained : trained_)
        if (!trained->ended()) steps = std::min(steps, trained->run->experiment().steps_a_call());
    for (const auto& trained : trained_) trained->due = trained->ended() ? 0 : steps;
}

/// The steps of this round of the next run; false when all have ended.
bool EngineWorker::advanceOne() {
    if (allEnded()) return false;
    if (roundEnded()) beginRound();
    const auto next = std::find_if(trained_.begin(), trained_.end(),
                                   [](const auto& run) { return !run->ended() && run->due > 0; });
    Trained& trained = **next;
    const auto steps_done = [&] { return trained.run->experiment().steps_done(); };
    const std::int64_t end = steps_done() + trained.due;
    do {
        drive(trained, [&](Run& run) { run.advance(pool_, end - steps_done()); });
    } while (!trained.ended() && steps_done() < end && !shutting_down_);
    trained.due = 0;
    if (single_rounds_ > 0 && roundEnded()) --single_rounds_;
    return true;
}

/// A watchpoint that triggered and a requested pause take effect at the end of a round.
void EngineWorker::pauseAfterRound() {
    if (!roundEnded()) return;
    if (std::exchange(watch_triggered_, false) && !allEnded()) {
        paused_ = true;
        single_rounds_ = 0;
    }
    if (!paused_ || single_rounds_ > 0 || !std::exchange(save_when_paused_, false)) return;
    for (const auto& trained : trained_)
        if (!trained->ended()) drive(*trained, [](Run& run) { run.save(); });
}

bool EngineWorker::allEnded() const {
    return std::all_of(trained_.begin(), trained_.end(), [](const auto& run) { return run->ended(); });
}

/// A run leaves only after its last frame was sent: its rows and its outcome would be lost.
template <class Which>
void EngineWorker::drop(Which&& which) {
    std::erase_if(trained_, [&](const auto& trained) {
        if (!which(*trained)) return false;
        NORMSCOPE_ASSERT(trained->reported(), "a run leaves the engine before it was reported");
        return true;
    });
}

/// A few times a second: the text of it is read, and a query of a card takes microseconds.
const DeviceUse& EngineWorker::deviceUse() {
    const auto now = Clock::now();
    if (now - last_device_use_ < kDeviceUseInterval) return device_use_;
    last_device_use_ = now;
    device_use_ = {{}, {}, resident_memory()};
    std::vector<const Device*> seen;
    for (const auto& trained : trained_) {
        const Device& device = trained->run->experiment().device();
        if (trained->ended() || std::count(seen.begin(), seen.end(), &device)) continue;
        seen.push_back(&device);
        const DeviceCapabilities can = device.capabilities();
        device_use_.backend += (device_use_.backend.empty() ? "" : ", ") + can.backend;
        if (can.host_readable || device_use_.memory.total > 0) continue;
        try {
            device_use_.memory = device.memory();
        } catch (const SystemError&) {
            // Lost: its runs report it.
        }
    }
    return device_use_;
}

void EngineWorker::sendTrainFrame(bool always) {
    if (!always && (Clock::now() - last_frame_ < kFrameInterval || frames_waiting_ >= kFramesWaiting)) return;
    Frame frame;
    frame.kind = Frame::Kind::Train;
    frame.complete = allEnded();
    frame.device = deviceUse();
    for (const auto& trained : trained_) {
        const Experiment& experiment = trained->run->experiment();
        RunFrame& pending = trained->pending;
        frame.ms += trained->ended() ? 0 : experiment.last_step_seconds() * 1e3;
        frame.probe_overhead = std::max(frame.probe_overhead, experiment.probe_overhead());
        if (trained->reported()) continue;
        pending.gate_warnings = gateWarnings(experiment);
        frame.runs.push_back(std::exchange(pending, RunFrame{trained->id}));
        pending.training = trained->token;
    }
    if (frame.runs.empty()) return;
    last_frame_ = Clock::now();
    send(std::move(frame));
}

void EngineWorker::send(Frame frame) {
    frame.number = ++frame_number_;
    frames_waiting_.fetch_add(1);
    Q_EMIT frameReady(std::make_shared<const Frame>(std::move(frame)));
}

void EngineWorker::change(const std::string& id, std::function<void(Run&)> what) {
    QMetaObject::invokeMethod(
        this,
        [this, id, what = std::move(what)] {
            for (const auto& trained : trained_)
                if (trained->id == id) drive(*trained, what);
            sendTrainFrame(paused_);
        },
        Qt::QueuedConnection);
}

void EngineWorker::setKnobs(const std::string& id, const HotKnobs& knobs) {
    change(id, [knobs](Run& run) { run.set_knobs(knobs); });
}

void EngineWorker::setWatch(const std::string& id, const std::vector<WatchSpec>& watch) {
    change(id, [watch](Run& run) { run.set_watch(watch); });
}

void EngineWorker::setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) {
    change(id, [list](Run& run) { run.set_interventions(list); });
}

void EngineWorker::setPaused(bool paused) {
    QMetaObject::invokeMethod(
        this,
        [this, paused] {
            paused_ = paused;
            save_when_paused_ = paused;
            single_rounds_ = 0;
            pauseAfterRound();
            sendTrainFrame(true);
            scheduleChunk();
        },
        Qt::QueuedConnection);
}

void EngineWorker::singleStep() {
    QMetaObject::invokeMethod(
        this,
        [this] {
            paused_ = true;
            single_rounds_ = roundEnded() ? 1 : 2;  // after the one that has begun
            scheduleChunk();
        },
        Qt::QueuedConnection);
}

template <class Which>
void EngineWorker::interrupt(Which&& which) {
    for (const auto& trained : trained_)
        if (which(*trained))
            drive(*trained, [](Run& run) {
                run.interrupt("stopped at step " + std::to_string(run.experiment().steps_done()),
                              "stopped by hand");
            });
    pauseAfterRound();  // the others may have ended their round
    sendTrainFrame(true);
    drop([&](const Trained& run) { return which(run); });
}

void EngineWorker::stop(const std::vector<std::string>& ids) {
    QMetaObject::invokeMethod(
        this,
        [this, ids] {
            interrupt(
                [&](const Trained& trained) { return std::count(ids.begin(), ids.end(), trained.id) > 0; });
        },
        Qt::QueuedConnection);
}

void EngineWorker::stop() {
    QMetaObject::invokeMethod(
        this, [this] { interrupt([](const Trained&) { return true; }); }, Qt::QueuedConnection);
}

}  // namespace normscope::app
