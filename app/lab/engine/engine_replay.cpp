// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the engine that replays runs: to measure steps that were not sampled, and to branch off.
#include "app/lab/engine/engine_worker.h"

#include <QTimer>
#include <utility>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kEngineReplaySlice = 16ms;

/// The remark on a replay that has other bits than the run; empty where it has the same.
QString replayedElsewhere(const ReplayPlan& plan, const Replay& replay) {
    const std::string backend = replay.device().capabilities().backend;
    if (change_of_device(plan.header, backend).empty()) return {};
    return QObject::tr(
               "%1 was recorded on %2, which is not available: step %3 is replayed on %4, with its rounding")
        .arg(QString::fromStdString(plan.header.name), QString::fromStdString(plan.header.backend))
        .arg(plan.step)
        .arg(QString::fromStdString(backend));
}

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
    replayed_results_.clear();
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
        replayed_results_.clear();
    }
    scheduleReplay();
}

/// A slice of the first run's replay, or the measurement at one of its targets; after the last, the reply.
void EngineWorker::advanceReplay() {
    const auto end = Clock::now() + kEngineReplaySlice;
    const ReplayPlan& plan = measuring_.runs.front().replay;
    const QString id = QString::fromStdString(plan.header.id);
    if (!replay_) replay_ = std::make_unique<Replay>(plan, replay_device(plan.header));
    while (!replay_->arrived() && !cancel_measuring_ && Clock::now() < end) replay_->advance(pool_);
    if (replay_->arrived())
        for (ProbeResult& result : replay_->measure(pool_, &cancel_measuring_))
            replayed_results_.push_back(std::move(result));
    if (!replay_->finished()) {
        Q_EMIT replayed(measuring_.token, id, replay_->steps_done());
        return;
    }
    auto results = std::make_shared<const std::vector<ProbeResult>>(std::exchange(replayed_results_, {}));
    Q_EMIT measured(measuring_.token, id, results, replayedElsewhere(plan, *replay_));
    measuring_.runs.erase(measuring_.runs.begin());
    replay_.reset();
}

void EngineWorker::branch(BranchRequest request) {
    QMetaObject::invokeMethod(
        this,
        [this, request = std::move(request)]() mutable {
            branches_.push_back(std::move(request));
            scheduleBranch();
        },
        Qt::QueuedConnection);
}

void EngineWorker::cancelBranches() {
    QMetaObject::invokeMethod(
        this,
        [this] {
            branches_.clear();
            branch_replay_.reset();
        },
        Qt::QueuedConnection);
}

void EngineWorker::scheduleBranch() {
    if (branch_scheduled_ || shutting_down_ || branches_.empty()) return;
    branch_scheduled_ = true;
    QTimer::singleShot(0, this, [this] {
        branch_scheduled_ = false;
        branchSlice();
    });
}

void EngineWorker::branchSlice() {
    if (shutting_down_ || branches_.empty()) return;
    const BranchRequest& request = branches_.front();
    CheckpointPtr reached;
    QString failed;
    try {
        const auto end = Clock::now() + kEngineReplaySlice;
        if (!branch_replay_)
            branch_replay_ = std::make_unique<Replay>(request.replay, replay_device(request.replay.header));
        while (!branch_replay_->arrived() && !shutting_down_ && Clock::now() < end)
            branch_replay_->advance(pool_);
        if (!branch_replay_->arrived()) {
            Q_EMIT branching(request.token, branch_replay_->steps_done());
            return scheduleBranch();
        }
        reached = std::make_shared<const Checkpoint>(branch_replay_->checkpoint());
        failed = replayedElsewhere(request.replay, *branch_replay_);
    } catch (const std::exception& error) {
        failed = QString::fromUtf8(error.what());
    }
    const std::uint64_t token = request.token;
    branches_.pop_front();
    branch_replay_.reset();
    Q_EMIT branched(token, reached, failed);
    scheduleBranch();
}

}  // namespace normscope::app
