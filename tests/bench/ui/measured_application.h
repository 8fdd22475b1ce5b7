// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <chrono>
#include <vector>

namespace normscope::app::bench {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

inline double milliseconds(Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

/// A mouse event of the benchmark, with its index: Qt passes pointers of it to notify() only.
struct Indexed {
    explicit Indexed(int i) : index(i) {}
    virtual ~Indexed() = default;
    const int index;
};
struct IndexedMouseEvent : QMouseEvent, Indexed {
    IndexedMouseEvent(int i, const QPointF& at, const QPointF& global)
        : QMouseEvent(QEvent::MouseMove, at, global, Qt::NoButton, Qt::LeftButton, Qt::NoModifier),
          Indexed(i) {}
};
struct IndexedWheelEvent : QWheelEvent, Indexed {
    IndexedWheelEvent(int i, const QPointF& at, const QPointF& global, int notches)
        : QWheelEvent(at, global, {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false),
          Indexed(i) {}
};

/// One widget's paint event.
struct Painted {
    const QObject* widget;
    double ms;
};

/// What the application reports while it is measured. Interface thread.
class EventListener {
  public:
    virtual ~EventListener() = default;
    virtual void moveBegins(int index, Time now) = 0;
    virtual void moveEnds(int index, Time now) = 0;
    /// The widgets painted in one pass over the window, which ends when the window system has the pixels.
    virtual void windowPainted(Time begin, const std::vector<Painted>& painted, Time end) = 0;
    /// An event that took some milliseconds: its receiver's class and its type.
    virtual void slowEvent(const QMetaObject*, int /*type*/, double /*ms*/) {}
};

/// Times events where Qt delivers them: notify() is called for every event of every object, so nothing of the
/// window needs to be changed to be measured. Without a listener it is a QApplication.
class MeasuredApplication : public QApplication {
  public:
    using QApplication::QApplication;
    /// At most one; nullptr: none.
    void listen(EventListener* listener) { listener_ = listener; }
    bool notify(QObject* receiver, QEvent* event) override;

  private:
    bool timed(QObject* receiver, QEvent* event);

    EventListener* listener_ = nullptr;
    int depth_ = 0;       ///< of nested events
    int pass_depth_ = 0;  ///< the event that paints the window; 0: none
    Time pass_begin_{};
    bool painting_ = false;  ///< in a widget's paint event
    std::vector<Painted> painted_;
};

}  // namespace normscope::app::bench
