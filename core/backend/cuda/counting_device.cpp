// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/counting_device.h"

#include "core/backend/shared/out_of_memory.h"

#include <sys/mman.h>

#include <cstring>

namespace normscope {

CountingDevice::CountingDevice()
    : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}, cuda::kStoredTokens) {
    calls_.executes = false;
    log_calls(&calls_);
}

CountingDevice::~CountingDevice() {
    release_scratch();
}

DeviceCapabilities CountingDevice::capabilities() const {
    DeviceCapabilities same = EmulatedCudaDevice::capabilities();
    same.backend = "counted";
    same.name = "a CUDA device whose calls are counted";
    return same;
}

DeviceMemory CountingDevice::memory() const {
    constexpr std::size_t all = std::size_t{1} << 46;
    return {all, all};
}

void* CountingDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* block =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw OutOfMemory("counted device: no address space for so many bytes");
    return block;
}

void CountingDevice::release(void* block, std::size_t bytes) noexcept {
    if (block) munmap(block, bytes);
}

void CountingDevice::upload(void* to, const void* from, std::size_t bytes) {
    if (bytes <= kKept) std::memcpy(to, from, bytes);
}

void CountingDevice::download(void* to, const void* from, std::size_t bytes) {
    if (bytes <= kKept)
        std::memcpy(to, from, bytes);
    else
        std::memset(to, 0, bytes);
}

std::unique_ptr<Graph> CountingDevice::capture(const std::function<void()>&) {
    return nullptr;
}

}  // namespace normscope
