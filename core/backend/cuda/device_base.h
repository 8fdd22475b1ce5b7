// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/replica_memory.h"
#include "core/backend/cuda/launch/replicas.h"
#include "core/backend/device.h"
#include "core/base/assert.h"
#include "core/base/error.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace normscope::cuda {

/// A device that is one of several replicas (Device::replicas).
struct Replica {
    std::shared_ptr<Replicas> group;
    int index;
    ReplicaMemory::Part memory;
    Device& card;  ///< of all
};

/// What a card and the emulated card share: one shard, pieces in order on the calling thread, scratch memory
/// by thread and slot, graphs, and which device the calling thread captures one of.
class DeviceBase : public Device, protected Context, protected Replicas::Maker {
  public:
    std::unique_ptr<Graph> capture(const std::function<void()>& calls) override;
    /// Of the last graph that was captured: kernels, GEMMs and copies.
    std::size_t captured_calls() const { return captured_calls_; }
    Replicas::Last last_of_replicas() const {
        return replica_ ? replica_->group->last_of(replica_->index) : Replicas::Last{};
    }

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
    explicit DeviceBase(std::unique_ptr<Replica> replica = nullptr) : replica_(std::move(replica)) {}
    /// In the memory of this replica; null where this is none, or its part is full.
    void* allocate_of_replica(std::size_t bytes) {
        return replica_ ? replica_->memory.allocate(bytes) : nullptr;
    }
    bool release_of_replica(void* block) noexcept { return replica_ && replica_->memory.release(block); }
    std::size_t unused_of_replica() const { return replica_ ? replica_->memory.unused() : 0; }
    /// make(what makes it one) for each of `count` replicas.
    template <class Make>
    std::vector<std::unique_ptr<Device>> make_replicas(int count, std::size_t bytes_each,
                                                       std::chrono::milliseconds patience, const Make& make) {
        const auto group = std::make_shared<Replicas>(patience);
        const auto memory = std::make_shared<ReplicaMemory>(*this, count, bytes_each);
        std::vector<std::unique_ptr<Device>> all;
        for (int i = 0; i < count; ++i)
            all.push_back(make(std::unique_ptr<Replica>(new Replica{group, i, {memory, i}, *this})));
        return all;
    }
    std::unique_ptr<Tables> tables() override;

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
    /// Where the calls of the calling thread go, while it captures.
    static Calls* captured() { return captured_; }

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
    /// The calling thread captures a graph of the device while an instance exists.
    class Capturing {
      public:
        Capturing(const DeviceBase& device, Calls& to) {
            capturing_ = &device;
            captured_ = &to;
        }
        ~Capturing() {
            capturing_ = nullptr;
            captured_ = nullptr;
        }
        Capturing(const Capturing&) = delete;
        Capturing& operator=(const Capturing&) = delete;
    };
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
    inline static thread_local Calls* captured_ = nullptr;
    const std::unique_ptr<Replica> replica_;
    std::atomic<std::size_t> captured_calls_{0};
    std::mutex mutex_;
    std::map<std::pair<std::thread::id, int>, Memory> scratch_;
    std::map<std::thread::id, DelayedSums> sums_;
};

/// A captured step of a device that is no replica.
class OwnStep final : public Graph {
  public:
    OwnStep(Calls calls, std::unique_ptr<Executable> graph, const std::atomic<std::uint64_t>& moves)
        : calls_(std::move(calls)), graph_(std::move(graph)), moves_(moves), at_(moves) {}
    bool valid() const override { return moves_ == at_; }
    void launch() override { graph_->launch(); }

  private:
    const Calls calls_;
    const std::unique_ptr<Executable> graph_;
    const std::atomic<std::uint64_t>& moves_;
    const std::uint64_t at_;
};

inline std::unique_ptr<Graph> DeviceBase::capture(const std::function<void()>& calls) {
    Calls made;
    {
        const Capturing until_the_end(*this, made);
        calls();
    }
    captured_calls_ = made.size();
    if (replica_)
        return std::make_unique<Replicas::Step>(
            replica_->group, replica_->index, static_cast<Replicas::Maker&>(*this), std::move(made), moves_);
    auto graph = executable(pointers_to(made));
    return std::make_unique<OwnStep>(std::move(made), std::move(graph), moves_);
}

inline std::unique_ptr<Tables> DeviceBase::tables() {
    /// In the memory of the card: that of the replicas has the same requests in each part.
    class OfReplicas final : public Tables {
      public:
        OfReplicas(Device& card, Device& device) : card_(card), device_(device) {}
        ~OfReplicas() override {
            try {
                device_.synchronize();  // the card's stream is another one
            } catch (const SystemError&) {
                // A lost device no longer reads them.
            }
            for (const auto& [block, bytes] : blocks_) card_.release(block, bytes);
        }
        const void* add(const void* values, std::size_t bytes) override {
            void* const block = card_.allocate(bytes);
            blocks_.emplace_back(block, bytes);
            device_.upload(block, values, bytes);
            return block;
        }

      private:
        Device &card_, &device_;
        std::vector<std::pair<void*, std::size_t>> blocks_;
    };
    return std::make_unique<OfReplicas>(replica_->card, *this);
}

}  // namespace normscope::cuda
