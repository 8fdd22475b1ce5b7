// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/ui/measured_application.h"

#include <QPointF>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

class QWidget;

namespace normscope::app::bench {

/// A move of the mouse in the window's coordinates, or wheel notches there.
struct MouseMove {
    QPointF at;
    int notches = 0;
};

/// Posts mouse events from a thread of its own, so that a busy interface thread does not delay them, to the
/// native window (QWindow): from there on their path is that of the window system's events: the widget under
/// the mouse or the one that grabbed it, its event filters, its handler. Events of the X server itself would
/// need the XTEST library or Qt's private headers; what is skipped is reading the connection and xcb's
/// merging of moves that wait together, so that here every move is delivered.
class MouseSender {
  public:
    /// Starts at once; `interval` between the events.
    MouseSender(QWidget& window, std::vector<MouseMove> moves, Clock::duration interval);
    ~MouseSender();
    bool finished() const { return sent_ == static_cast<int>(moves_.size()); }
    /// When that event was posted. Any thread, once it was received.
    Time postedAt(int index) const;

  private:
    void send(QObject* window, QPointF origin, Clock::duration interval);

    const std::vector<MouseMove> moves_;
    mutable std::mutex mutex_;
    std::vector<Time> posted_;  ///< guarded by mutex_
    std::atomic<int> sent_{0};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

/// Presses or releases the left button at a point of the window.
void sendButton(QWidget& window, const QPointF& at, bool press);

}  // namespace normscope::app::bench
