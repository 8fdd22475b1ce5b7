// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_work.h"

namespace normscope::app {

class IoWorker;

/// Calls to HDF5 in the thread of this worker, which must be alive.
FileCalls callsIn(IoWorker* io);

}  // namespace normscope::app
