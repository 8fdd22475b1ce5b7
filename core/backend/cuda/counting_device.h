// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"

namespace normscope {

/// A CUDA device that makes no call: what a pass or a step asks of a card is written into log(), with the
/// bytes and operations of each call, for stacks of any size that the address space holds. The calls are
/// those of a card with tiled attention and cuBLASLt, but for kernels that cuBLASLt adds of its own (a
/// reduction of split sums).
///
/// Its memory is reserved and never used, but for uploads of up to kKept bytes, whose values the host may
/// read back (the pieces of an arena, which say how many entries a kernel has). Downloads of anything else
/// are zeros: nothing that it computes means anything. One driver.
class CountingDevice final : public EmulatedCudaDevice {
  public:
    static constexpr std::size_t kKept = std::size_t{16} << 20;
    CountingDevice();
    ~CountingDevice() override;

    cuda::LaunchLog& calls() { return calls_; }

    DeviceCapabilities capabilities() const override;
    DeviceMemory memory() const override;
    void* allocate(std::size_t bytes) override;
    void release(void* block, std::size_t bytes) noexcept override;
    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    /// None: every step makes its calls.
    std::unique_ptr<Graph> capture(const std::function<void()>& calls) override;

  private:
    cuda::LaunchLog calls_;
};

}  // namespace normscope
