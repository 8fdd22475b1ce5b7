// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/step_counter.h"

#include <exception>
#include <memory>

namespace normscope::app {

StepCounter::~StepCounter() {
    waiting_ = false;
    if (!thread_) return;
    thread_->wait();
    delete thread_;
}

quint64 StepCounter::request(const Recipe& recipe, const QString& card) {
    recipe_ = recipe;
    card_ = card;
    ++latest_;
    waiting_ = true;
    if (!thread_) start();
    return latest_;
}

void StepCounter::start() {
    waiting_ = false;
    thread_ = QThread::create([this, number = latest_, recipe = recipe_, card = card_.toStdString()] {
        auto count = std::make_shared<StepCount>();
        QString problem;
        try {
            *count = count_step(recipe, card_named(card));
        } catch (const std::exception& error) {
            problem = QString::fromUtf8(error.what());
        }
        QMetaObject::invokeMethod(
            this,
            [this, number, count, problem] {
                if (number != latest_) return;
                if (problem.isEmpty())
                    Q_EMIT counted(number, *count);
                else
                    Q_EMIT failed(number, problem);
            },
            Qt::QueuedConnection);
    });
    connect(thread_, &QThread::finished, thread_, &QObject::deleteLater);
    connect(thread_, &QObject::destroyed, this, [this] {
        if (waiting_) start();
    });
    thread_->start();
}

}  // namespace normscope::app
