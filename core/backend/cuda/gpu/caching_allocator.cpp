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

void* CachingAllocator::allocate(Lane lane, std::size_t bytes) {
    const std::size_t size = rounded_up(bytes);
    std::lock_guard lock(mutex_);
    auto& kept = kept_[lane];
    // The smallest kept block that holds it, if no more than a quarter of that would be unused.
    if (const auto fit = kept.lower_bound(size); fit != kept.end() && fit->first - size <= fit->first / 4) {
        void* block = fit->second;
        in_use_.emplace(block, Block{lane, fit->first});
        kept_bytes_ -= fit->first;
        kept.erase(fit);
        return block;
    }
    void* block = nullptr;
    cudaError_t error = cudaMalloc(&block, size);
    if (error == cudaErrorMemoryAllocation && kept_bytes_ > 0) {
        cudaGetLastError();
        free_kept();
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
    in_use_.emplace(block, Block{lane, size});
    return block;
}

void CachingAllocator::release(void* block) noexcept {
    std::lock_guard lock(mutex_);
    const auto used = in_use_.find(block);
    if (used == in_use_.end()) return;
    const auto [lane, size] = used->second;
    in_use_.erase(used);
    if (kept_bytes_ + size > most_) {
        cudaFree(block);  // waits for the calls that use it
        return;
    }
    kept_[lane].emplace(size, block);
    kept_bytes_ += size;
}

void CachingAllocator::forget(Lane lane) noexcept {
    std::lock_guard lock(mutex_);
    const auto found = kept_.find(lane);
    if (found == kept_.end()) return;
    for (const auto& [size, block] : found->second) {
        cudaFree(block);
        kept_bytes_ -= size;
    }
    kept_.erase(found);
}

std::size_t CachingAllocator::kept() const {
    std::lock_guard lock(mutex_);
    return kept_bytes_;
}

void CachingAllocator::free_kept() noexcept {
    for (auto& [lane, kept] : kept_) {
        for (const auto& [size, block] : kept) cudaFree(block);
        kept.clear();
    }
    kept_bytes_ = 0;
}

}  // namespace normscope::cuda
