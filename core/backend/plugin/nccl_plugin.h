// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

class CardCommunicator;
class HostCommunicator;

// The C interface of libnormscope_nccl.so, the plug-in with which ranks that have a card each exchange values
// by NCCL. As of the CUDA plug-in (cuda_plugin.h), the object that open() returns is of C++, of the same
// source and compiler as the program.

/// Increased with every change of the struct below or of a class of ranks/communicator.h.
inline constexpr int kNcclPluginAbi = 1;

struct NcclPlugin {
    int abi;
    /// For the memory of a card, which this rank alone has; not connected yet. It is owned by the plug-in,
    /// until the process ends; `host` is valid as long. Once. Null on failure.
    CardCommunicator* (*open)(HostCommunicator& host, int card);
    /// One line on the last failure.
    const char* (*last_error)();
};

/// The only exported symbol, kNcclPluginSymbol: null where the plug-in has another ABI than the caller's.
using NcclPluginEntry = const NcclPlugin* (*)(int abi);
inline constexpr const char* kNcclPluginSymbol = "normscope_nccl_plugin";

}  // namespace normscope
