// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

class HostCommunicator;

// The C interface of libnormscope_mpi.so, the plug-in that is linked with MPI: the program opens it at run
// time, so that it starts without one. As of the CUDA plug-in (cuda_plugin.h), the object that open() returns
// is of C++, of the same source and compiler as the program.

/// Increased with every change of the struct below or of HostCommunicator (ranks/communicator.h).
inline constexpr int kMpiPluginAbi = 2;

struct MpiPlugin {
    int abi;
    /// The ranks of this process' launcher; owned by the plug-in, until the process ends. While a call of it
    /// waits, it asks stop_wanted() from time to time: a rank that is asked to end does not wait for lost
    /// ones. Once, in the thread that makes its calls. Null on failure.
    HostCommunicator* (*open)(bool (*stop_wanted)());
    /// All ranks have ended their work. Nothing of the communicator may be called afterwards.
    void (*close)();
    /// One line on the last failure.
    const char* (*last_error)();
};

/// The only exported symbol, kMpiPluginSymbol: null where the plug-in has another ABI than the caller's.
using MpiPluginEntry = const MpiPlugin* (*)(int abi);
inline constexpr const char* kMpiPluginSymbol = "normscope_mpi_plugin";

}  // namespace normscope
