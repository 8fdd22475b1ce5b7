// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and training of sweeps next to the comparison: calls in the files' thread.
#include "app/lab/engine/call_and_wait.h"
#include "app/lab/lab.h"

namespace normscope::app {

FileCalls callsIn(IoWorker* io) {
    return [io](const std::function<void()>& work) { callAndWait(io, work); };
}

}  // namespace normscope::app
