// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/measured_application.h"

#include <QThread>

namespace normscope::app::bench {

namespace {
constexpr double kSlowMs = 4;
}

bool MeasuredApplication::notify(QObject* receiver, QEvent* event) {
    // Other threads deliver their events through the same function; the listener is this one's.
    if (QThread::currentThread() != thread() || !listener_) return QApplication::notify(receiver, event);
    ++depth_;
    const Time begin = Clock::now();
    const QEvent::Type type = event->type();
    const QMetaObject* of = receiver->metaObject();  // the event may delete the receiver
    // QWidget paints the window in this event, sent to the window or to its QWindow.
    if (type == QEvent::UpdateRequest && pass_depth_ == 0) {
        pass_depth_ = depth_;
        pass_begin_ = begin;
    }
    const bool done = timed(receiver, event);
    const Time end = Clock::now();
    if (depth_ == pass_depth_) {
        pass_depth_ = 0;
        if (!painted_.empty()) {
            // A listener's slot may paint again.
            const std::vector<Painted> painted = std::move(painted_);
            painted_.clear();
            if (listener_) listener_->windowPainted(pass_begin_, painted, end);
        }
    }
    if (depth_ == 1 && listener_ && milliseconds(end - begin) >= kSlowMs)
        listener_->slowEvent(of, type, milliseconds(end - begin));
    --depth_;
    return done;
}

bool MeasuredApplication::timed(QObject* receiver, QEvent* event) {
    if (event->type() == QEvent::Paint && !painting_ && receiver->isWidgetType()) {
        if (pass_depth_ == 0) {  // painted on exposure or by repaint(): the outermost event is the pass
            pass_depth_ = 1;
            pass_begin_ = Clock::now();
        }
        painting_ = true;
        const Time begin = Clock::now();
        const bool done = QApplication::notify(receiver, event);
        painted_.push_back({receiver, milliseconds(Clock::now() - begin)});
        painting_ = false;
        return done;
    }
    const auto* sent = receiver->isWindowType() ? dynamic_cast<const Indexed*>(event) : nullptr;
    if (!sent) return QApplication::notify(receiver, event);
    const int index = sent->index;
    listener_->moveBegins(index, Clock::now());
    const bool done = QApplication::notify(receiver, event);
    if (listener_) listener_->moveEnds(index, Clock::now());
    return done;
}

}  // namespace normscope::app::bench
