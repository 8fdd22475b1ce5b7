// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/sweep_request.h"

#include <QObject>
#include <QString>
#include <atomic>
#include <cstdint>
#include <string>

namespace normscope::app {

/// Trains the sweeps of a window on another machine, one after the other, each in a folder of this machine,
/// where it is continued by a later request for the same sweep. Lives in a thread of its own, in which
/// train() returns when the sweep is over; the other functions may be called from any thread.
class SweepTrainer : public QObject {
    Q_OBJECT
  public:
    /// Sweeps are in folders of `folder`; `files` as of run_sweep().
    SweepTrainer(std::string folder, int threads, FileCalls files);

    /// Stops the sweeps of earlier requests, and trains this one.
    void start(const SweepRequest& request);
    /// The sweep of this request, and of earlier ones: their runs are interrupted with checkpoints.
    void stop(std::uint64_t token);
    void stopAll() { stop(UINT64_MAX); }
    /// Whether a sweep is trained, or waits.
    bool busy() const { return open_ > 0; }

  Q_SIGNALS:
    /// `recording`: the file of a run that has ended, whose bytes are not in the reply; empty: none.
    void replied(const normscope::app::SweepReplyPtr& reply, const QString& recording);

  private:
    class Watcher;
    void train(const SweepRequest& request);

    const std::string folder_;
    const int threads_;
    const FileCalls files_;
    std::atomic<std::uint64_t> stopped_{0};  ///< this token and all before
    std::atomic<int> open_{0};
};

}  // namespace normscope::app
