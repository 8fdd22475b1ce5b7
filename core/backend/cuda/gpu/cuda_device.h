// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/device_base.h"

#include <memory>
#include <string>

namespace normscope::cuda {

class CachingAllocator;

/// One NVIDIA GPU: the kernels of cuda/, GEMM by cuBLASLt, one stream (a lane: device.h). A batch is one
/// shard; pieces run in order on the calling thread. float32 is true float32 (no TF32); under TF32, BF16 and
/// FP16 tensor cores multiply, and all else is float32, rounded as on the CPU. A call returns before it is
/// done, so an error of a kernel is thrown by a later call: check(), check.h.
class CudaDevice final : public DeviceBase {
  public:
    /// SystemError where the card cannot be used or cuBLASLt is missing.
    explicit CudaDevice(int card) : CudaDevice(card, nullptr, nullptr, nullptr) {}
    ~CudaDevice() override;

    DeviceCapabilities capabilities() const override;
    /// Free: what the driver has, and released blocks that are kept.
    DeviceMemory memory() const override;
    void* allocate(std::size_t bytes) override;
    void release(void* block, std::size_t bytes) noexcept override;
    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    std::unique_ptr<Readback> read(const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void zero(void* to, std::size_t bytes) override;
    void synchronize() override;
    /// With a stream, plans of GEMMs and pinned memory of its own. All lanes of a card share its memory: what
    /// one has released and kept is freed where another needs it.
    std::unique_ptr<Device> lane() override;
    /// In one stream, with plans of GEMMs in common.
    std::vector<std::unique_ptr<Device>> replicas(int count, std::size_t bytes_each) override;
    PassOps<float> pass_ops_float(Rounding rounding, PrecisionPolicy policy) override;
    PassOps<double> pass_ops_double() override;
    StepOps<float>& step_ops_float() override;
    StepOps<double>& step_ops_double() override;

  private:
    struct Streams;
    /// blocks: of the card's other lanes; streams: of the other replicas; null: it has none.
    CudaDevice(int card, std::shared_ptr<CachingAllocator> blocks, std::shared_ptr<Streams> streams,
               std::unique_ptr<Replica> replica);
    /// A CUDA graph.
    std::unique_ptr<Executable> executable(std::vector<const Call*> calls) override;
    Queue queue() const override;
    /// Makes it the calling thread's device: one program may use several.
    void select() const;

    struct State;
    int card_;
    std::string name_, described_;
    Formats formats_;
    std::unique_ptr<State> state_;
};

}  // namespace normscope::cuda
