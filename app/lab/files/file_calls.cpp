// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/file_calls.h"

#include "app/lab/engine/call_and_wait.h"
#include "app/lab/files/io_worker.h"

namespace normscope::app {

FileCalls callsIn(IoWorker* io) {
    return [io](const std::function<void()>& work) { callAndWait(io, work); };
}

}  // namespace normscope::app
