// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/throttle.h"

#include <utility>

namespace normscope::widgets {

Throttle::Throttle(QObject* parent, int interval, std::function<void()> update) : QObject(parent) {
    timer_.setSingleShot(true);
    timer_.setInterval(interval);
    connect(&timer_, &QTimer::timeout, this, std::move(update));
}

void Throttle::request() {
    if (!timer_.isActive()) timer_.start();
}

void Throttle::cancel() {
    timer_.stop();
}

bool Throttle::isDue() const {
    return timer_.isActive();
}

}  // namespace normscope::widgets
