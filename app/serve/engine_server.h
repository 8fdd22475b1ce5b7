// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/engine_worker.h"
#include "app/lab/engine/worker_thread.h"
#include "app/lab/remote/channel.h"
#include "app/lab/remote/messages.h"
#include "app/serve/sweep_outbox.h"
#include "app/serve/sweep_trainer.h"
#include "core/run/live_recordings.h"

#include <QLocalServer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

class QLocalSocket;

namespace normscope::app {

/// Writes the recordings of an engine. Lives in its own thread, the one that calls HDF5.
class RecordingWorker : public QObject {
    Q_OBJECT
  public:
    explicit RecordingWorker(const std::string& folder);
    void record(const std::shared_ptr<RecordingQueue>& queue);
    /// Reads recordings that other processes write.
    void follow(const FollowRequest& request);

  Q_SIGNALS:
    /// A run is recorded in this file, or why it is not.
    void recording(const QString& id, const QString& path, const QString& failed);
    void followed(const normscope::app::FollowReplyPtr& reply);

  private:
    LiveRecordings recordings_;
    QTimer heartbeat_;
};

/// An engine for a window on another machine: takes its requests from one connection at a time, the newest
/// (Channel), and sends the replies. Its runs continue without a connection. It ends (ended()) when the
/// window closes, and where for an hour there was neither a connection nor anything to record: then its runs
/// are stopped, with checkpoints. One thread, with an event loop.
class EngineServer : public QObject {
    Q_OBJECT
  public:
    /// `listening`: the descriptor of a socket that listens. Runs are recorded in `folder`, sweeps in its
    /// folder "sweeps".
    EngineServer(qintptr listening, const std::string& folder, int threads, QObject* parent = nullptr);
    ~EngineServer() override;

    /// Intermediate checkpoints of more bytes are not sent: they are kept in the recording here.
    static constexpr std::size_t kMaxSentCheckpoint = std::size_t{16} << 20;
    /// No recording of a sweep is read while more bytes wait to be acknowledged.
    static constexpr std::size_t kMaxWaiting = std::size_t{16} << 20;

  Q_SIGNALS:
    void ended();

  private:
    using Clock = std::chrono::steady_clock;
    void relayReplies();
    void accept();
    void disconnectWindow();
    void read();
    void take(const ask::Any& message);
    void send(const reply::Any& message);
    void sendFrame(const FramePtr& frame);
    void beat();
    void finish();
    std::vector<RunPlan> withWeights(std::vector<RunPlan> runs,
                                     const std::vector<std::uint64_t>& numbers) const;

    // Destroyed in reverse order: the engine and the sweeps first, whose last data is still recorded.
    WorkerThread<RecordingWorker> recorder_;
    WorkerThread<EngineWorker> engine_;
    WorkerThread<SweepTrainer> sweeps_;
    QLocalServer server_;
    QPointer<QLocalSocket> window_;
    Channel channel_;
    SweepOutbox swept_;
    std::map<std::uint64_t, StartWeightsPtr> weights_;  ///< by number
    QTimer beat_;
    Clock::time_point received_at_ = Clock::now();  ///< of the window, or of a run's progress
    Clock::time_point active_ = Clock::now();
    bool finishing_ = false, finished_ = false;
};

}  // namespace normscope::app
