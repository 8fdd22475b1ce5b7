// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace normscope::app {

/// Runs `work` in the thread of `object`, after everything that is queued for it, and waits until it has
/// returned: its result, or what it throws. Not from that thread. (Qt::BlockingQueuedConnection has neither
/// result nor exceptions.)
template <class Work>
auto callAndWait(QObject* object, Work work) {
    // Shared: the caller continues while the task returns.
    const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
    auto result = task->get_future();
    QMetaObject::invokeMethod(
        object, [task] { (*task)(); }, Qt::QueuedConnection);
    return result.get();
}

}  // namespace normscope::app
