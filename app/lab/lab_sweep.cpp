// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and training of sweeps next to the comparison: calls in the files' thread.
#include "app/lab/lab.h"

#include <exception>

namespace normscope::app {

FileCalls callsIn(IoWorker* io) {
    return [io](const std::function<void()>& work) {
        std::exception_ptr error;
        QMetaObject::invokeMethod(
            io,
            [&work, &error] {
                try {
                    work();
                } catch (...) {
                    error = std::current_exception();
                }
            },
            Qt::BlockingQueuedConnection);
        if (error) std::rethrow_exception(error);
    };
}

}  // namespace normscope::app
