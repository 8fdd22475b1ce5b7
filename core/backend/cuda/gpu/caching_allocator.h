// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

namespace normscope::cuda {

/// Memory of the current device, with released blocks kept for later requests of the same lane: cudaMalloc
/// and cudaFree wait for the whole device. All work of a lane is in one stream, so it may use a block again
/// while calls that read it are still queued; another lane gets its memory through cudaFree. Any thread.
class CachingAllocator {
  public:
    using Lane = const void*;  ///< any address that is one lane's alone

    /// most: bytes of released blocks that are kept, of all lanes together. device: its name in messages.
    CachingAllocator(std::string device, std::size_t most) : device_(std::move(device)), most_(most) {}
    ~CachingAllocator() { free_kept(); }
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    /// 256-byte aligned, not initialised. SystemError with the size and what is free when out of memory.
    void* allocate(Lane lane, std::size_t bytes);
    void release(void* block) noexcept;
    /// Frees what is kept of a lane that ends.
    void forget(Lane lane) noexcept;
    /// Bytes that are kept and not in use.
    std::size_t kept() const;

  private:
    struct Block {
        Lane lane;
        std::size_t size;
    };
    void free_kept() noexcept;

    std::string device_;
    std::size_t most_, kept_bytes_ = 0;
    mutable std::mutex mutex_;
    std::map<Lane, std::multimap<std::size_t, void*>> kept_;  ///< by size
    std::unordered_map<void*, Block> in_use_;
};

}  // namespace normscope::cuda
