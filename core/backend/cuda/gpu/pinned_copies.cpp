// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/pinned_copies.h"

#include "core/backend/cuda/launch/check.h"

#include <cstring>

namespace normscope::cuda {

PinnedCopies::Slot PinnedCopies::new_slot(std::size_t bytes, unsigned event_flags) {
    Slot slot;
    try {
        check(cudaMallocHost(reinterpret_cast<void**>(&slot.memory), bytes), "pinned memory");
        check(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming | event_flags), "cudaEventCreate");
    } catch (...) {
        free_slot(slot);
        throw;
    }
    return slot;
}

void PinnedCopies::free_slot(const Slot& slot) {
    if (slot.done) cudaEventDestroy(slot.done);
    if (slot.memory) cudaFreeHost(slot.memory);
}

PinnedCopies::PinnedCopies(cudaStream_t stream) : stream_(stream) {
    for (Slot& slot : slots_) slot = new_slot(kSlotBytes, cudaEventDefault);
}

PinnedCopies::~PinnedCopies() {
    for (const Slot& slot : slots_) free_slot(slot);
    for (const Slot& slot : unread_) free_slot(slot);
}

class PinnedCopies::Read final : public Readback {
  public:
    Read(PinnedCopies& owner, Slot slot) : owner_(owner), slot_(slot) {}
    ~Read() override {
        const std::lock_guard lock(owner_.mutex_);
        owner_.unread_.push_back(slot_);
    }
    const void* wait() override {
        check(cudaEventSynchronize(slot_.done), "a copy to the host");
        return slot_.memory;
    }

  private:
    PinnedCopies& owner_;
    Slot slot_;
};

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

std::unique_ptr<Readback> PinnedCopies::read(const void* from, std::size_t bytes) {
    if (bytes > kReadBytes) return nullptr;
    Slot slot;
    {
        const std::lock_guard lock(mutex_);
        if (!unread_.empty()) {
            slot = unread_.back();
            unread_.pop_back();
        }
    }
    // The thread sleeps until the event: the interface needs its core.
    if (!slot.memory) slot = new_slot(kReadBytes, cudaEventBlockingSync);
    auto read = std::make_unique<Read>(*this, slot);
    if (bytes > 0)
        check(cudaMemcpyAsync(slot.memory, from, bytes, cudaMemcpyDeviceToHost, stream_),
              "a copy to the host");
    check(cudaEventRecord(slot.done, stream_), "a copy to the host");
    return read;
}

}  // namespace normscope::cuda
