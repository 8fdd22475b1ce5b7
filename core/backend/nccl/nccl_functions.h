// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nccl.h>

#include <string>

namespace normscope::cuda {

/// The functions of NCCL that are used. The library is opened at run time, so that the plug-in loads on a
/// machine without it and states that in one line.
struct NcclFunctions {
    decltype(&ncclGetUniqueId) get_unique_id = nullptr;
    decltype(&ncclCommInitRankConfig) init_rank = nullptr;
    decltype(&ncclCommGetAsyncError) async_error = nullptr;
    decltype(&ncclCommFinalize) finalize = nullptr;
    decltype(&ncclCommDestroy) destroy = nullptr;
    decltype(&ncclCommAbort) abort = nullptr;
    decltype(&ncclGroupStart) group_start = nullptr;
    decltype(&ncclGroupEnd) group_end = nullptr;
    decltype(&ncclBroadcast) broadcast = nullptr;
    decltype(&ncclSend) send = nullptr;
    decltype(&ncclRecv) receive = nullptr;
    decltype(&ncclGetErrorString) error_string = nullptr;
    decltype(&ncclGetLastError) last_error = nullptr;
    std::string missing;  ///< empty, or one line on why the functions are null
};

/// Opened by the first call: libnccl.so.2, where the dynamic linker or CUDA's default folder has it.
const NcclFunctions& nccl_functions();

}  // namespace normscope::cuda
