// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/caching_allocator.h"

#include "core/backend/cuda/launch/check.h"
#include "core/backend/shared/out_of_memory.h"

namespace normscope::cuda {

namespace {

/// Sizes are rounded up, so that tensors of similar size share blocks: small ones to 512 bytes, large ones to
/// 2 MiB, the unit in which cudaMalloc takes memory.
std::size_t rounded_up(std::size_t bytes) {
    const std::size_t unit = bytes < (std::size_t{1} << 20) ? 512 : std::size_t{2} << 20;
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void* CachingAllocator::allocate(std::size_t bytes) {
    const std::size_t size = rounded_up(bytes);
    std::lock_guard lock(mutex_);
    // The smallest kept block that holds it, if no more than a quarter of that would be unused.
    if (const auto fit = stored_.lower_bound(size);
        fit != stored_.end() && fit->first - size <= fit->first / 4) {
        void* block = fit->second;
        in_use_.emplace(block, fit->first);
        cached_bytes_ -= fit->first;
        stored_.erase(fit);
        return block;
    }
    void* block = nullptr;
    cudaError_t error = cudaMalloc(&block, size);
    if (error == cudaErrorMemoryAllocation && !stored_.empty()) {
        cudaGetLastError();
        free_cached();
        error = cudaMalloc(&block, size);
    }
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        throw OutOfMemory(device_ + ": out of memory: " + mebibytes(bytes) + " were requested, " +
                          mebibytes(free) + " of " + mebibytes(total) + " are free");
    }
    check(error, "cudaMalloc");
    in_use_.emplace(block, size);
    return block;
}

void CachingAllocator::release(void* block) noexcept {
    std::lock_guard lock(mutex_);
    const auto used = in_use_.find(block);
    if (used == in_use_.end()) return;
    const std::size_t size = used->second;
    in_use_.erase(used);
    if (cached_bytes_ + size > most_) {
        cudaFree(block);  // waits for the calls that use it
        return;
    }
    stored_.emplace(size, block);
    cached_bytes_ += size;
}

std::size_t CachingAllocator::kept() const {
    std::lock_guard lock(mutex_);
    return cached_bytes_;
}

void CachingAllocator::free_cached() noexcept {
    for (const auto& [size, block] : stored_) cudaFree(block);
    stored_.clear();
    cached_bytes_ = 0;
}

}  // namespace normscope::cuda
