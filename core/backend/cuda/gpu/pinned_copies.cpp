// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/pinned_copies.h"

#include "core/backend/cuda/gpu/check.h"

#include <cstring>

namespace normscope::cuda {

PinnedCopies::PinnedCopies(cudaStream_t stream) : stream_(stream) {
    for (Slot& slot : slots_) {
        check(cudaMallocHost(reinterpret_cast<void**>(&slot.memory), kSlotBytes), "pinned memory");
        check(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming), "cudaEventCreate");
    }
}

PinnedCopies::~PinnedCopies() {
    for (const Slot& slot : slots_) {
        if (slot.done) cudaEventDestroy(slot.done);
        if (slot.memory) cudaFreeHost(slot.memory);
    }
}

void PinnedCopies::upload(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > kSlotBytes) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "upload");
        return check(cudaStreamSynchronize(stream_), "upload");
    }
    std::lock_guard lock(mutex_);
    const Slot& slot = slots_[next_];
    next_ = (next_ + 1) % kSlots;
    check(cudaEventSynchronize(slot.done), "upload");
    std::memcpy(slot.memory, from, bytes);
    check(cudaMemcpyAsync(to, slot.memory, bytes, cudaMemcpyHostToDevice, stream_), "upload");
    check(cudaEventRecord(slot.done, stream_), "upload");
}

void PinnedCopies::download(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return check(cudaStreamSynchronize(stream_), "download");
    if (bytes > kSlotBytes) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "download");
        return check(cudaStreamSynchronize(stream_), "download");
    }
    std::lock_guard lock(mutex_);
    const Slot& slot = slots_[next_];
    next_ = (next_ + 1) % kSlots;
    check(cudaMemcpyAsync(slot.memory, from, bytes, cudaMemcpyDeviceToHost, stream_), "download");
    check(cudaStreamSynchronize(stream_), "download");
    std::memcpy(to, slot.memory, bytes);
}

}  // namespace normscope::cuda
