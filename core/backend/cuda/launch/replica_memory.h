// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace normscope::cuda {

/// One block of device memory for equal replicas, in equal parts: the same requests in the same order have
/// the same places in each part, so that the operands of their products are equally far apart.
class ReplicaMemory {
  public:
    /// SystemError when out of memory.
    ReplicaMemory(Device& card, int replicas, std::size_t bytes_each)
        : card_(card), each_(rounded(bytes_each)), bytes_(each_ * static_cast<std::size_t>(replicas)) {
        base_ = static_cast<std::byte*>(card.allocate(bytes_));
    }
    ~ReplicaMemory() { card_.release(base_, bytes_); }
    ReplicaMemory(const ReplicaMemory&) = delete;
    ReplicaMemory& operator=(const ReplicaMemory&) = delete;

    /// The part of one replica. Any thread.
    class Part {
      public:
        Part(std::shared_ptr<ReplicaMemory> all, int replica)
            : all_(std::move(all)), base_(all_->base_ + static_cast<std::size_t>(replica) * all_->each_) {
            free_[0] = all_->each_;
        }
        /// kAlignment-aligned; null where the part has no gap of that size.
        void* allocate(std::size_t bytes) {
            const std::size_t size = rounded(bytes);
            std::lock_guard lock(mutex_);
            for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
                if (gap->second < size) continue;
                const auto [at, length] = *gap;
                free_.erase(gap);
                if (length > size) free_[at + size] = length - size;
                used_[at] = size;
                return base_ + at;
            }
            return nullptr;
        }
        /// False: the block is not of this part.
        bool release(void* block) noexcept {
            const auto at = static_cast<std::size_t>(static_cast<std::byte*>(block) - base_);
            if (static_cast<std::byte*>(block) < base_ || at >= all_->each_) return false;
            std::lock_guard lock(mutex_);
            const auto used = used_.find(at);
            std::size_t begin = at, end = at + used->second;
            used_.erase(used);
            auto next = free_.lower_bound(begin);
            if (next != free_.end() && next->first == end) {
                end += next->second;
                next = free_.erase(next);
            }
            if (next != free_.begin())
                if (const auto before = std::prev(next); before->first + before->second == begin) {
                    begin = before->first;
                    free_.erase(before);
                }
            free_[begin] = end - begin;
            return true;
        }
        std::size_t unused() const {
            std::lock_guard lock(mutex_);
            std::size_t bytes = 0;
            for (const auto& [at, size] : free_) bytes += size;
            return bytes;
        }

      private:
        const std::shared_ptr<ReplicaMemory> all_;
        std::byte* const base_;
        mutable std::mutex mutex_;
        std::map<std::size_t, std::size_t> free_, used_;  ///< sizes by offset
    };

  private:
    static constexpr std::size_t kAlignment = 256;
    static std::size_t rounded(std::size_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }

    Device& card_;
    const std::size_t each_, bytes_;
    std::byte* base_ = nullptr;
};

}  // namespace normscope::cuda
