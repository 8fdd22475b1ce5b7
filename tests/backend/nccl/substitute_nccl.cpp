// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/backend/nccl/substitute_nccl.h"

#include "core/backend/nccl/nccl_functions.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace {

/// One end of a message: of a rank to another, of a send or of the broadcasts of a root.
struct Posted {
    char* data;
    std::size_t bytes;
    bool done = false;
};
struct Way {
    int from, to;
    bool broadcast;
    auto operator<=>(const Way&) const = default;
};

struct World {
    int size = 0, here = 0;
    std::map<Way, std::deque<Posted*>> sent, expected;
};

}  // namespace

struct Call {
    ncclComm* of;
    Way way;
    bool sends;
    char* data;
    std::size_t bytes;
};
struct ncclComm {
    World* world;
    int rank;
    bool finalized = false;
    std::list<Posted> own;
    std::vector<Call> given;  ///< by a group that has ended, and not taken yet
};
struct CUstream_st {
    ncclComm* user = nullptr;
};
struct CUevent_st {
    ncclComm* of = nullptr;  ///< whose calls it waits for; null: none
};

namespace {

std::mutex mutex;
std::map<std::string, World> worlds;
int all_cards = 1, ids = 0;
ncclResult_t failure = ncclSuccess;
int good_answers = 0;  ///< of async_error, before the failure
bool is_broken() {
    return failure != ncclSuccess && good_answers <= 0;
}
normscope::test::nccl::Counts counted;

thread_local int depth = 0;
thread_local std::vector<Call> group;

/// Copies what both ends have posted, in order; a difference of sizes is reported.
ncclResult_t move_messages(World& world) {
    for (auto& [way, sends] : world.sent) {
        auto& receives = world.expected[way];
        while (!sends.empty() && !receives.empty()) {
            Posted &from = *sends.front(), &to = *receives.front();
            if (from.bytes != to.bytes) return ncclInvalidUsage;
            if (from.data != to.data) std::memcpy(to.data, from.data, from.bytes);
            counted.bytes += static_cast<std::int64_t>(from.bytes);
            from.done = to.done = true;
            sends.pop_front();
            receives.pop_front();
        }
    }
    return ncclSuccess;
}

void post(const Call& call) {
    call.of->own.push_back({call.data, call.bytes});
    World& world = *call.of->world;
    (call.sends ? world.sent : world.expected)[call.way].push_back(&call.of->own.back());
}

ncclResult_t add(ncclComm* of, Way way, bool sends, const void* data, std::size_t bytes,
                 cudaStream_t stream) {
    // The tests allow groups alone, of a communicator that is ready.
    if (depth == 0 || of->world->here < of->world->size) return ncclInvalidUsage;
    stream->user = of;
    group.push_back({of, way, sends, static_cast<char*>(const_cast<void*>(data)), bytes});
    return ncclInProgress;
}

ncclResult_t get_unique_id(ncclUniqueId* id) {
    const std::lock_guard lock(mutex);
    *id = {};
    id->internal[0] = static_cast<char>('a' + ids++);
    return ncclSuccess;
}
ncclResult_t init_rank(ncclComm_t* made, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
    if (config->blocking != 0) return ncclInvalidArgument;
    const std::lock_guard lock(mutex);
    World& world = worlds[id.internal];
    world.size = size;
    ++world.here;
    ++counted.made;
    *made = new ncclComm{&world, rank, false, {}, {}};
    return ncclInProgress;
}
ncclResult_t async_error(ncclComm_t of, ncclResult_t* state) {
    const std::lock_guard lock(mutex);
    if (of->world->here < of->world->size || !of->given.empty()) {
        for (const Call& call : of->given) post(call);
        of->given.clear();
        *state = ncclInProgress;
        return ncclSuccess;
    }
    if (failure != ncclSuccess) --good_answers;
    *state = is_broken() ? failure : ncclSuccess;
    return ncclSuccess;
}
ncclResult_t finalize(ncclComm_t of) {
    const std::lock_guard lock(mutex);
    of->finalized = true;
    ++counted.finalized;
    return ncclInProgress;
}
ncclResult_t destroy(ncclComm_t of) {
    const std::lock_guard lock(mutex);
    if (!of->finalized) return ncclInvalidUsage;
    ++counted.destroyed;
    delete of;
    return ncclSuccess;
}
ncclResult_t abort_it(ncclComm_t of) {
    const std::lock_guard lock(mutex);
    ++counted.aborted;
    for (auto* ways : {&of->world->sent, &of->world->expected})
        for (auto& [way, all] : *ways)
            std::erase_if(all, [&](const Posted* posted) {
                return std::any_of(of->own.begin(), of->own.end(),
                                   [&](const Posted& own) { return &own == posted; });
            });
    delete of;
    return ncclSuccess;
}
ncclResult_t group_start() {
    ++depth;
    return ncclSuccess;
}
ncclResult_t group_end() {
    if (--depth > 0) return ncclSuccess;
    const std::lock_guard lock(mutex);
    for (const Call& call : group) call.of->given.push_back(call);
    group.clear();
    return ncclInProgress;
}
ncclResult_t broadcast(const void* from, void* to, std::size_t count, ncclDataType_t, int root, ncclComm_t of,
                       cudaStream_t stream) {
    if (of->rank != root) return add(of, {root, of->rank, true}, false, to, count, stream);
    for (int r = 0; r < of->world->size; ++r)
        if (r != root) add(of, {root, r, true}, true, from, count, stream);
    stream->user = of;
    return ncclInProgress;
}
ncclResult_t send(const void* data, std::size_t count, ncclDataType_t, int to, ncclComm_t of,
                  cudaStream_t stream) {
    return add(of, {of->rank, to, false}, true, data, count, stream);
}
ncclResult_t receive(void* data, std::size_t count, ncclDataType_t, int from, ncclComm_t of,
                     cudaStream_t stream) {
    return add(of, {from, of->rank, false}, false, data, count, stream);
}
const char* error_string(ncclResult_t result) {
    return result == ncclRemoteError ? "remote process exited" : "unhandled system error";
}
const char* last_error(ncclComm_t) {
    return "first line\nno space on the device\n";
}

}  // namespace

namespace normscope::test::nccl {

void reset(int cards) {
    const std::lock_guard lock(mutex);
    worlds.clear();
    all_cards = cards;
    failure = ncclSuccess;
    good_answers = 0;
    counted = {};
}
void fail_with(ncclResult_t result, int after) {
    const std::lock_guard lock(mutex);
    failure = result;
    good_answers = after + 1;
}
Counts counts() {
    const std::lock_guard lock(mutex);
    return counted;
}

}  // namespace normscope::test::nccl

const normscope::cuda::NcclFunctions& normscope::cuda::nccl_functions() {
    static const NcclFunctions functions{get_unique_id, init_rank,    async_error, finalize,  destroy,
                                         abort_it,      group_start,  group_end,   broadcast, send,
                                         receive,       error_string, last_error,  {}};
    return functions;
}

extern "C" {

cudaError_t cudaSetDevice(int) {
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int card) {
    std::memset(to, 0, sizeof *to);
    to->uuid.bytes[0] = static_cast<char>(card % all_cards);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned) {
    const std::lock_guard lock(mutex);
    ++counted.streams;
    *to = new CUstream_st;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const std::lock_guard lock(mutex);
    --counted.streams;
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned) {
    const std::lock_guard lock(mutex);
    ++counted.events;
    *to = new CUevent_st;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const std::lock_guard lock(mutex);
    --counted.events;
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const std::lock_guard lock(mutex);
    // What NCCL has not taken is not in the stream yet.
    event->of = stream->user && stream->user->given.empty() ? stream->user : nullptr;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    const std::lock_guard lock(mutex);
    ncclComm* const of = event->of;
    if (!of) return cudaSuccess;
    if (is_broken()) return cudaErrorNotReady;
    if (move_messages(*of->world) != ncclSuccess) return cudaErrorInvalidValue;
    const bool done = std::all_of(of->own.begin(), of->own.end(), [](const Posted& own) { return own.done; });
    if (!done) return cudaErrorNotReady;
    of->own.clear();
    return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
    return "a CUDA error";
}
const char* cudaGetErrorName(cudaError_t) {
    return "cudaError";
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
}
