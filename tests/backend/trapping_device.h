// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <memory>

namespace normscope {

/// The CPU with addresses that the host cannot dereference: the constraints of a GPU on host code, on any
/// machine.
///
/// Each block has two addresses at a fixed distance: the returned one lies in a reserved range
/// without access, where a read or a write by host code ends the process (SIGSEGV); the numbers lie at the
/// other. The device's operations translate each pointer, and end the process with the operation's name when
/// one is an address of the host (abort). So what runs to its end has given every operation device memory and
/// read none of it on the host. Results are the CPU's, bit for bit.
class TrappingDevice final : public Device {
  public:
    TrappingDevice();
    ~TrappingDevice() override;

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

    /// The number's real address; aborts with `operation` where it is none of this device. Null stays null.
    void* real(const void* address, const char* operation) const;
    /// How many operations ran.
    std::size_t operations() const;
    /// Bytes that are allocated now.
    std::size_t in_use() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace normscope
