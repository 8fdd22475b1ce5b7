// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/mouse_sender.h"

#include <QCoreApplication>
#include <QWidget>
#include <QWindow>

namespace normscope::app::bench {

MouseSender::MouseSender(QWidget& window, std::vector<MouseMove> moves, Clock::duration interval)
    : moves_(std::move(moves)),
      thread_([this, target = window.windowHandle(), origin = QPointF(window.mapToGlobal(QPoint())),
               interval] { send(target, origin, interval); }) {}

MouseSender::~MouseSender() {
    ends_ = true;
    thread_.join();
}

Time MouseSender::postedAt(int index) const {
    const std::lock_guard lock(mutex_);
    return posted_.at(static_cast<std::size_t>(index));
}

void MouseSender::send(QObject* window, QPointF origin, Clock::duration interval) {
    Time due = Clock::now();
    for (std::size_t i = 0; i < moves_.size() && !ends_; ++i, due += interval) {
        std::this_thread::sleep_until(due);
        const auto& [at, notches] = moves_[i];
        const int index = static_cast<int>(i);
        QEvent* event = nullptr;
        if (notches == 0)
            event = new IndexedMouseEvent(index, at, origin + at);
        else
            event = new IndexedWheelEvent(index, at, origin + at, notches);
        {
            const std::lock_guard lock(mutex_);
            posted_.push_back(Clock::now());
        }
        QCoreApplication::postEvent(window, event);
        ++sent_;
    }
}

void sendButton(QWidget& window, const QPointF& at, bool press) {
    QMouseEvent event(press ? QEvent::MouseButtonPress : QEvent::MouseButtonRelease, at,
                      QPointF(window.mapToGlobal(QPoint())) + at, Qt::LeftButton,
                      press ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.windowHandle(), &event);
}

}  // namespace normscope::app::bench
