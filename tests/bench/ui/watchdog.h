// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/ui/measured_application.h"

#include <QObject>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace normscope::app::bench {

/// Measures from a thread of its own how long the interface thread does not answer. Every millisecond an
/// event becomes due; its wait ends when the interface thread processes the next event of the watchdog. One
/// stall of 50 ms is therefore 50 waits of 50, 49, … ms: what an event of the user at any time would wait.
class Watchdog : public QObject {
  public:
    /// In the interface thread.
    explicit Watchdog(QObject* parent = nullptr);
    ~Watchdog() override;
    /// Ends the measurement: the waits in ms, one a millisecond.
    std::vector<double> stop();

  protected:
    bool event(QEvent* event) override;

  private:
    void watch();

    std::mutex mutex_;
    std::vector<Time> due_;      ///< guarded by mutex_: not answered yet
    std::vector<double> waits_;  ///< guarded by mutex_
    bool requested_ = false;     ///< guarded by mutex_: an event is queued
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace normscope::app::bench
