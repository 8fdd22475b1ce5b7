// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/call_and_wait.h"

#include <QObject>
#include <QThread>
#include <utility>

namespace normscope::app {

/// A QObject and its thread. The destructor processes everything queued for the worker, then quits the thread
/// and waits for it.
template <class Worker>
class WorkerThread {
  public:
    template <class... Args>
    explicit WorkerThread(const char* name, Args&&... args)
        : worker_(new Worker(std::forward<Args>(args)...)) {
        worker_->moveToThread(&thread_);
        QObject::connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
        thread_.setObjectName(QString::fromLatin1(name));
        thread_.start();
    }
    ~WorkerThread() {
        drain();
        thread_.quit();
        thread_.wait();
    }
    WorkerThread(const WorkerThread&) = delete;
    WorkerThread& operator=(const WorkerThread&) = delete;

    Worker* operator->() const { return worker_; }
    Worker* get() const { return worker_; }
    /// Waits until everything queued so far is done.
    void drain() {
        callAndWait(worker_, [] {});
    }

  private:
    QThread thread_;
    Worker* worker_;
};

}  // namespace normscope::app
