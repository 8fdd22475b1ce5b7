// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/device_base.h"
#include "core/backend/cuda/tiled/tiled_attention.h"

#include <atomic>
#include <chrono>
#include <cstdint>

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
class EmulatedCudaDevice : public cuda::DeviceBase {
  public:
    /// Longer sequences are attended in tiles where the tape has no probabilities: on the host short maps are
    /// cheaper than tiles of short maps.
    static constexpr int kStoredTokens = 512;
    /// schedule: the order in which the threads of a launch run, and whether accesses are checked, where
    /// kernels are instrumented (not in builds with sanitizers, which check accesses to the host's memory
    /// themselves). stored_tokens: up to which length attention keeps its probabilities. replica: null where
    /// it is none.
    explicit EmulatedCudaDevice(const grid::Schedule& schedule, int stored_tokens = kStoredTokens,
                                std::unique_ptr<cuda::Replica> replica = nullptr);
    ~EmulatedCudaDevice() override;

    DeviceCapabilities capabilities() const override;
    DeviceMemory memory() const override;
    void* allocate(std::size_t bytes) override;
    void release(void* block, std::size_t bytes) noexcept override;
    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void zero(void* to, std::size_t bytes) override;
    void synchronize() override;
    /// Of the same schedule; its launches are run between those of other lanes.
    std::unique_ptr<Device> lane() override;
    std::vector<std::unique_ptr<Device>> replicas(int count, std::size_t bytes_each) override;
    /// Of replicas that are made from now on: how long they wait for each other, since the grid runs one
    /// launch at a time.
    void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }
    PassOps<float> pass_ops_float(Rounding rounding, PrecisionPolicy policy) override;
    PassOps<double> pass_ops_double() override;
    StepOps<float>& step_ops_float() override;
    StepOps<double>& step_ops_double() override;

    /// For tests of runs on a device that fails. Counted from fail_at() on, 0 = never: the allocation of this
    /// number throws OutOfMemory, that one alone; at the launch of this number the device is lost, which its
    /// every later call except release() reports as SystemError until the next fail_at(). Not while another
    /// thread uses the device.
    struct Fault {
        std::uint64_t allocation = 0, launch = 0;
        bool lost = false;  ///< already
    };
    void fail_at(Fault fault);

    /// Calls are written into `log` from now on; null: no longer. Not while another thread uses the device.
    void log_calls(cuda::LaunchLog* log) { log_ = log; }

  private:
    std::unique_ptr<cuda::Executable> executable(std::vector<const cuda::Call*> calls) override;
    cuda::Queue queue() const override;
    cuda::LaunchLog* log() const override { return log_; }
    void require_present() const;
    /// Before each launch.
    void count_launch() const;

    struct State;
    grid::Schedule schedule_;
    int stored_tokens_;
    std::chrono::milliseconds patience_{10000};
    Fault fault_;
    cuda::LaunchLog* log_ = nullptr;
    std::atomic<std::uint64_t> allocations_{0};
    mutable std::atomic<std::uint64_t> launches_{0};
    mutable std::atomic<bool> lost_{false};
    std::unique_ptr<State> state_;
};

/// The process' emulated device, unchecked.
EmulatedCudaDevice& emulated_cuda_device();

}  // namespace normscope
