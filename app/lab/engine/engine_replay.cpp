// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the engine that measures steps that were not sampled.
#include "app/lab/engine/engine_worker.h"

#include <QTimer>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kEngineReplaySlice = 16ms;

}  // namespace

void EngineWorker::measureAt(MeasureRequest request) {
    {
        const std::lock_guard lock(mutex_);
        measure_request_ = std::move(request);
        cancel_measuring_ = true;
    }
    QMetaObject::invokeMethod(this, &EngineWorker::takeMeasureRequest, Qt::QueuedConnection);
}

void EngineWorker::takeMeasureRequest() {
    const std::lock_guard lock(mutex_);
    if (!measure_request_ || shutting_down_) return;  // already taken by an earlier wake-up
    measuring_ = std::move(*measure_request_);
    measure_request_.reset();
    replay_.reset();
    cancel_measuring_ = false;
    scheduleReplay();
}

void EngineWorker::scheduleReplay() {
    if (replay_scheduled_ || shutting_down_) return;
    replay_scheduled_ = true;
    QTimer::singleShot(0, this, [this] {
        replay_scheduled_ = false;
        replaySlice();
    });
}

void EngineWorker::replaySlice() {
    if (shutting_down_ || cancel_measuring_) return;  // a newer request is pending
    if (measuring_.runs.empty()) return;
    try {
        advanceReplay();
    } catch (const Cancelled&) {
        return;
    } catch (const std::exception& error) {
        Q_EMIT measured(measuring_.token, QString::fromStdString(measuring_.runs.front().replay.header.id),
                        nullptr, QString::fromUtf8(error.what()));
        measuring_.runs.erase(measuring_.runs.begin());
        replay_.reset();
    }
    scheduleReplay();
}

/// A slice of the first run's replay; at its target, the measurement.
void EngineWorker::advanceReplay() {
    const auto end = Clock::now() + kEngineReplaySlice;
    const ReplayPlan& plan = measuring_.runs.front().replay;
    const QString id = QString::fromStdString(plan.header.id);
    if (!replay_) replay_ = std::make_unique<Replay>(plan, replay_device(plan.header));
    while (!replay_->arrived() && !cancel_measuring_ && Clock::now() < end) replay_->advance(pool_);
    if (!replay_->arrived()) {
        Q_EMIT replayed(measuring_.token, id, replay_->steps_done());
        return;
    }
    auto results =
        std::make_shared<const std::vector<ProbeResult>>(replay_->measure(pool_, &cancel_measuring_));
    const std::string backend = replay_->device().capabilities().backend;
    const bool elsewhere = !change_of_device(plan.header, backend).empty();
    Q_EMIT measured(
        measuring_.token, id, results,
        elsewhere
            ? tr("%1 was recorded on %2, which is not available: step %3 is replayed on %4, "
                 "with its rounding")
                  .arg(QString::fromStdString(plan.header.name), QString::fromStdString(plan.header.backend))
                  .arg(plan.step)
                  .arg(QString::fromStdString(backend))
            : QString());
    measuring_.runs.erase(measuring_.runs.begin());
    replay_.reset();
}

}  // namespace normscope::app
