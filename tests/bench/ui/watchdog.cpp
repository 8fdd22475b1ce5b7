// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/watchdog.h"

#include <QCoreApplication>

namespace normscope::app::bench {

namespace {
const auto kAnswer = static_cast<QEvent::Type>(QEvent::registerEventType());
}

Watchdog::Watchdog(QObject* parent) : QObject(parent), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    stop();
}

std::vector<double> Watchdog::stop() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    for (const Time due : std::exchange(due_, {})) waits_.push_back(milliseconds(Clock::now() - due));
    return std::exchange(waits_, {});
}

void Watchdog::watch() {
    while (!ends_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::lock_guard lock(mutex_);
        due_.push_back(Clock::now());  // a delay of this thread is not one of the interface
        if (requested_) continue;
        requested_ = true;
        QCoreApplication::postEvent(this, new QEvent(kAnswer));
    }
}

bool Watchdog::event(QEvent* event) {
    if (event->type() != kAnswer) return QObject::event(event);
    const Time now = Clock::now();
    const std::lock_guard lock(mutex_);
    for (const Time due : due_) waits_.push_back(milliseconds(now - due));
    due_.clear();
    requested_ = false;
    return true;
}

}  // namespace normscope::app::bench
