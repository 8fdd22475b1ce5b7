// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/counting_device.h"

#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/shared/out_of_memory.h"

#include <sys/mman.h>

#include <cstring>

namespace normscope {

namespace {

/// What is kept of an upload.
constexpr std::size_t kKept = std::size_t{16} << 20;

class Counting final : public EmulatedCudaDevice {
  public:
    Counting() : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}, cuda::kStoredTokens) {
        calls.executes = false;
        log_calls(&calls);
    }
    ~Counting() override { release_scratch(); }

    DeviceCapabilities capabilities() const override {
        DeviceCapabilities same = EmulatedCudaDevice::capabilities();
        same.backend = "counted";
        same.name = "a CUDA device whose calls are counted";
        return same;
    }
    DeviceMemory memory() const override {
        constexpr std::size_t all = std::size_t{1} << 46;
        return {all, all};
    }
    void* allocate(std::size_t bytes) override {
        if (bytes == 0) return nullptr;
        void* block =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED) throw OutOfMemory("counted device: no address space for so many bytes");
        return block;
    }
    void release(void* block, std::size_t bytes) noexcept override {
        if (block) munmap(block, bytes);
    }
    void upload(void* to, const void* from, std::size_t bytes) override {
        if (bytes <= kKept) std::memcpy(to, from, bytes);
    }
    void download(void* to, const void* from, std::size_t bytes) override {
        if (bytes <= kKept)
            std::memcpy(to, from, bytes);
        else
            std::memset(to, 0, bytes);
    }
    std::unique_ptr<Graph> capture(const std::function<void()>&) override { return nullptr; }

    cuda::LaunchLog calls;
};

}  // namespace

CountingDevice counting_device() {
    auto device = std::make_unique<Counting>();
    cuda::LaunchLog* const calls = &device->calls;
    return {std::move(device), calls};
}

}  // namespace normscope
