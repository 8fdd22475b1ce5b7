// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/step_count.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QThread>

namespace normscope::app {

/// Counts training steps in a thread of its own, one at a time: of the requests that arrive meanwhile the
/// latest is counted next, the others are dropped. Lives in the interface thread, which waits in the
/// destructor alone.
class StepCounter : public QObject {
    Q_OBJECT
  public:
    explicit StepCounter(QObject* parent = nullptr) : QObject(parent) {}
    ~StepCounter() override;

    /// counted() or failed() follows, with this number, unless another request or cancel() comes first.
    quint64 request(const Recipe& recipe, const QString& card);
    /// No reply to an earlier request arrives from now on.
    void cancel() { ++latest_; }

  Q_SIGNALS:
    void counted(quint64 request, const normscope::StepCount& count);
    void failed(quint64 request, const QString& line);

  private:
    void start();

    quint64 latest_ = 0;
    bool waiting_ = false;  ///< recipe_ is to be counted when the thread has ended
    Recipe recipe_;
    QString card_;
    QPointer<QThread> thread_;
};

}  // namespace normscope::app
