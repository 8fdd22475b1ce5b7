// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

namespace normscope::cuda {

/// Memory of the current device, with released blocks kept for later requests: cudaMalloc and cudaFree wait
/// for the whole device. All work on the blocks is in one stream, so a block may be used again while calls
/// that read it are still queued. Any thread.
class CachingAllocator {
  public:
    /// most: bytes of released blocks that are kept. device: its name in messages.
    CachingAllocator(std::string device, std::size_t most) : device_(std::move(device)), most_(most) {}
    ~CachingAllocator() { free_cached(); }
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    /// 256-byte aligned, not initialised. SystemError with the size and what is free when out of memory.
    void* allocate(std::size_t bytes);
    void release(void* block) noexcept;
    /// Bytes that are kept and not in use.
    std::size_t kept() const;

  private:
    void free_cached() noexcept;

    std::string device_;
    std::size_t most_, cached_bytes_ = 0;
    mutable std::mutex mutex_;
    std::multimap<std::size_t, void*> stored_;       ///< by size
    std::unordered_map<void*, std::size_t> in_use_;  ///< sizes
};

}  // namespace normscope::cuda
