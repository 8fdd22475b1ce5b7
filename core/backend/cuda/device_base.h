// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/device.h"
#include "core/base/assert.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace normscope::cuda {

/// What a card and the emulated card share: one shard, pieces in order on the calling thread, scratch memory
/// by thread and slot, and which device the calling thread captures a graph of.
class DeviceBase : public Device, protected Context {
  public:
    void* scratch(int slot, std::size_t bytes) final {
        NORMSCOPE_ASSERT(slot >= 0 && slot < kScratchSlots, "a slot of scratch memory");
        return block(slot, bytes);
    }
    int shards(int sequences) const final { return std::min(sequences, 1); }
    void run(ThreadPool&, int count, const std::function<void(int)>& piece) final {
        for (int i = 0; i < count; ++i) piece(i);
    }
    void run_ranges(ThreadPool&, int count, const std::function<void(int, int)>& range) final {
        if (count > 0) range(0, count);
    }

  protected:
    void* workspace(Work slot, std::size_t bytes) final {
        return block(kScratchSlots + static_cast<int>(slot), bytes);
    }
    DelayedSums& sums() final {
        std::lock_guard lock(mutex_);
        return sums_[std::this_thread::get_id()];  // a map keeps its entries in place
    }
    /// Called by the destructors of devices, which know how to release.
    void release_scratch() noexcept {
        for (const auto& [of, memory] : scratch_) release(memory.block, memory.bytes);
        scratch_.clear();
    }
    bool is_captured() const { return capturing_ == this; }
    /// std::logic_error where the calling thread captures a graph.
    void not_captured(const char* call) const {
        if (is_captured()) throw std::logic_error(std::string(call) + " in a captured step");
    }
    /// The calling thread captures a graph of the device while an instance exists.
    class Capturing {
      public:
        explicit Capturing(const DeviceBase& device) { capturing_ = &device; }
        ~Capturing() { capturing_ = nullptr; }
        Capturing(const Capturing&) = delete;
        Capturing& operator=(const Capturing&) = delete;
    };

    /// The operations of a pass of a device's state: single, tf32, bf16, fp16, bf16_autocast, fp16_autocast.
    template <class State>
    static PassOps<float> ops_of(State& state, Rounding rounding, PrecisionPolicy policy) {
        const bool pure = policy == PrecisionPolicy::Pure;
        switch (rounding) {
            case Rounding::None:
                break;
            case Rounding::Bf16:
                return pure ? state.bf16.ops : state.bf16_autocast.ops;
            case Rounding::Fp16:
                return pure ? state.fp16.ops : state.fp16_autocast.ops;
            case Rounding::Tf32:
                return state.tf32.ops;
        }
        return state.single.ops;
    }

    std::atomic<std::uint64_t> moves_ = 0;  ///< of blocks of scratch memory

  private:
    struct Memory {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    void* block(int slot, std::size_t bytes) {
        std::unique_lock lock(mutex_);
        Memory& mine = scratch_[{std::this_thread::get_id(), slot}];
        lock.unlock();  // the entry is this thread's alone, and a map keeps its entries in place
        if (bytes > mine.bytes) {
            if (mine.block) {
                ++moves_;
                release(mine.block, mine.bytes);
            }
            mine = {};
            mine.block = allocate(bytes);
            mine.bytes = bytes;
        }
        return mine.block;
    }

    inline static thread_local const DeviceBase* capturing_ = nullptr;
    std::mutex mutex_;
    std::map<std::pair<std::thread::id, int>, Memory> scratch_;
    std::map<std::thread::id, DelayedSums> sums_;
};

}  // namespace normscope::cuda
