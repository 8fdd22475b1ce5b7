// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace normscope {

class Device;

// The C interface of libnormscope_cuda.so, the plug-in with the CUDA device. The program opens it at run
// time, so that it starts without a driver. No function of the struct throws. The Device that open() returns
// is a C++ object: plug-in and program are of the same source and compiler, and its InputError and
// SystemError are caught by the program (the typeinfo of both is compared by name).

/// Increased with every change of the structs below, of Device (device.h) or of a class of operations
/// (pass_ops.h, step_ops.h).
inline constexpr int kCudaPluginAbi = 7;

/// One card.
struct CudaCard {
    char name[256];           ///< display name, zero-terminated
    int major, minor;         ///< compute capability
    std::size_t free, total;  ///< memory in bytes
    int driver;               ///< the CUDA version of the driver, 1000·major + 10·minor
};

struct CudaPlugin {
    int abi;
    /// The number of cards; −1 where something that they need is missing.
    int (*count)();
    /// 0, or −1. Threads: any.
    int (*describe)(int card, CudaCard* to);
    /// The device of a card, opened once; owned by the plug-in, until the process ends. Null on failure.
    Device* (*open)(int card);
    /// One line on the last failure in the calling thread; valid until its next call.
    const char* (*last_error)();
};

/// The only exported symbol, kCudaPluginSymbol: null where the plug-in has another ABI than the caller's.
using CudaPluginEntry = const CudaPlugin* (*)(int abi);
inline constexpr const char* kCudaPluginSymbol = "normscope_cuda_plugin";

}  // namespace normscope
