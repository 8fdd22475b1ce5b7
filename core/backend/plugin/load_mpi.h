// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"

namespace normscope {

/// The ranks that an MPI launcher has started, of the plug-in (mpi_plugin.h); $NORMSCOPE_MPI_PLUGIN names a
/// file. It is valid until close_mpi(). Once, in the thread that trains. InputError where there is no
/// plug-in, with what is missing; SystemError where MPI does not start.
HostCommunicator& open_mpi(bool (*stop_wanted)());

/// When all ranks have ended their work, each of them; it waits for the others.
void close_mpi();

}  // namespace normscope
