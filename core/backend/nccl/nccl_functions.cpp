// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/nccl/nccl_functions.h"

#include "core/backend/plugin/library_functions.h"

namespace normscope::cuda {

namespace {

NcclFunctions opened_nccl() {
    NcclFunctions nccl;
    LibraryFunctions library(
        "NCCL", "libnccl.so.2",
        {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2", "/usr/local/cuda/lib/libnccl.so.2"});
    library.find(nccl.get_unique_id, "ncclGetUniqueId");
    library.find(nccl.init_rank, "ncclCommInitRankConfig");
    library.find(nccl.async_error, "ncclCommGetAsyncError");
    library.find(nccl.finalize, "ncclCommFinalize");
    library.find(nccl.destroy, "ncclCommDestroy");
    library.find(nccl.abort, "ncclCommAbort");
    library.find(nccl.group_start, "ncclGroupStart");
    library.find(nccl.group_end, "ncclGroupEnd");
    library.find(nccl.broadcast, "ncclBroadcast");
    library.find(nccl.send, "ncclSend");
    library.find(nccl.receive, "ncclRecv");
    library.find(nccl.error_string, "ncclGetErrorString");
    library.find(nccl.last_error, "ncclGetLastError");
    nccl.missing = library.missing();
    return nccl;
}

}  // namespace

const NcclFunctions& nccl_functions() {
    static const NcclFunctions nccl = opened_nccl();
    return nccl;
}

}  // namespace normscope::cuda
