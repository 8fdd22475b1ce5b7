// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/context.h"
#include "core/backend/device.h"

namespace normscope {

/// A CUDA device without a GPU: the kernels of cuda/ on the emulated grid (grid/emulator.h), GEMM by the CPU.
/// One stream: every call is done when it returns. A batch is one shard; pieces run in order on the calling
/// thread. TF32, BF16 and FP16 are emulated: the kernels of a card, which convert operands to BF16 and FP16,
/// with float32 GEMM on the host.
///
/// Checked, its memory is that of the emulated grid (grid::device_memory(), one for the process), and
/// launches, GEMMs and copies throw grid::GridFault for races, accesses out of bounds and reads of
/// uninitialised memory. Otherwise its memory is the host's, filled with NaN when it is allocated. Host code
/// must not read either.
///
/// For one device at a time in checked mode; threads as Device.
class EmulatedCudaDevice final : public Device, private cuda::Context {
  public:
    /// schedule: the order in which the threads of a launch run, and whether accesses are checked, where
    /// kernels are instrumented (not in builds with sanitizers, which check accesses to the host's memory
    /// themselves).
    explicit EmulatedCudaDevice(const grid::Schedule& schedule);
    ~EmulatedCudaDevice() override;

    DeviceCapabilities capabilities() const override;
    DeviceMemory memory() const override;
    void* allocate(std::size_t bytes) override;
    void release(void* block, std::size_t bytes) noexcept override;
    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void zero(void* to, std::size_t bytes) override;
    void synchronize() override {}
    void* scratch(int slot, std::size_t bytes) override;
    int shards(int sequences) const override;
    void run(ThreadPool& pool, int count, const std::function<void(int)>& piece) override;
    void run_ranges(ThreadPool& pool, int count, const std::function<void(int, int)>& range) override;
    Ops<float>& ops_float(Rounding rounding, PrecisionPolicy policy) override;
    Ops<double>& ops_double() override;

  private:
    cuda::Queue queue() const override { return {schedule_}; }
    void* workspace(cuda::Work slot, std::size_t bytes) override;

    struct State;
    grid::Schedule schedule_;
    std::unique_ptr<State> state_;
};

/// The process' emulated device, unchecked.
Device& emulated_cuda_device();

}  // namespace normscope
