// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/nccl/nccl_functions.h"

#include <dlfcn.h>

#include <type_traits>

namespace normscope::cuda {

namespace {

NcclFunctions opened_nccl() {
    NcclFunctions nccl;
    void* library = nullptr;
    for (const char* name :
         {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2", "/usr/local/cuda/lib/libnccl.so.2"})
        if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        nccl.missing = "no NCCL (libnccl.so.2 on the dynamic linker's path)";
        return nccl;
    }
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (!function && nccl.missing.empty()) nccl.missing = std::string("NCCL has no function ") + name;
    };
    find(nccl.get_unique_id, "ncclGetUniqueId");
    find(nccl.init_rank, "ncclCommInitRankConfig");
    find(nccl.async_error, "ncclCommGetAsyncError");
    find(nccl.finalize, "ncclCommFinalize");
    find(nccl.destroy, "ncclCommDestroy");
    find(nccl.abort, "ncclCommAbort");
    find(nccl.group_start, "ncclGroupStart");
    find(nccl.group_end, "ncclGroupEnd");
    find(nccl.broadcast, "ncclBroadcast");
    find(nccl.send, "ncclSend");
    find(nccl.receive, "ncclRecv");
    find(nccl.error_string, "ncclGetErrorString");
    find(nccl.last_error, "ncclGetLastError");
    return nccl;
}

}  // namespace

const NcclFunctions& nccl_functions() {
    static const NcclFunctions nccl = opened_nccl();
    return nccl;
}

}  // namespace normscope::cuda
