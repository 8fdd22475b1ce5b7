// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

namespace normscope {

/// The CPU as a device: its memory is the host's, its workers are the pool's threads, each with scratch
/// memory of its own (process-wide, freed when the thread ends). A batch has at most four shards. All calls
/// are synchronous.
class CpuDevice : public Device {
  public:
    CpuDevice();
    ~CpuDevice() override;

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
    PassOps<float> pass_ops_float(Rounding rounding, PrecisionPolicy policy) override;
    PassOps<double> pass_ops_double() override;
    StepOps<float>& step_ops_float() override;
    StepOps<double>& step_ops_double() override;

  private:
    struct AllOps;
    std::unique_ptr<AllOps> ops_;
};

}  // namespace normscope
