// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_device.h"

#include "core/backend/cpu/cpu_pass_ops.h"
#include "core/backend/cpu/cpu_step_ops.h"
#include "core/backend/cpu/emulated_ops.h"
#include "core/backend/cpu/host/large_pages.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/shared/out_of_memory.h"
#include "core/base/assert.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace normscope {

namespace {

constexpr std::size_t kLine = 64;
constexpr int kShards = 4;  // more rarely find free cores, and each costs a copy of the gradients

struct FreeBlock {
    void operator()(void* block) const { std::free(block); }
};

void* aligned_block(std::size_t bytes) {
    void* block = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    if (!block) throw OutOfMemory("out of memory: " + std::to_string(bytes >> 20) + " MiB were asked for");
    advise_huge_pages(block, bytes);
    return block;
}

}  // namespace

struct CpuDevice::AllOps {
    CpuPassOps<float> single{CpuKernels<float>{row_kernels<float>(), {}}};
    CpuPassOps<double> wide{CpuKernels<double>{row_kernels<double>(), {}}};
    EmulatedPassOps bf16{Rounding::Bf16, PrecisionPolicy::Pure}, fp16{Rounding::Fp16, PrecisionPolicy::Pure};
    EmulatedPassOps bf16_autocast{Rounding::Bf16, PrecisionPolicy::Autocast},
        fp16_autocast{Rounding::Fp16, PrecisionPolicy::Autocast};
    EmulatedPassOps tf32{Rounding::Tf32, PrecisionPolicy::Autocast};
    CpuStepOps<float> single_step;
    CpuStepOps<double> wide_step;
};

CpuDevice::CpuDevice() : ops_(std::make_unique<AllOps>()) {}
CpuDevice::~CpuDevice() = default;

DeviceCapabilities CpuDevice::capabilities() const {
    return {"cpu", "CPU", true, kEmulatedFormats};
}

DeviceMemory CpuDevice::memory() const {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return {static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page,
            static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page};
}

void* CpuDevice::allocate(std::size_t bytes) {
    return bytes == 0 ? nullptr : aligned_block(bytes);
}
void CpuDevice::release(void* block, std::size_t) noexcept {
    std::free(block);
}
void CpuDevice::upload(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}
void CpuDevice::download(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}
void CpuDevice::copy(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}
void CpuDevice::zero(void* to, std::size_t bytes) {
    std::memset(to, 0, bytes);
}

void* CpuDevice::scratch(int slot, std::size_t bytes) {
    NORMSCOPE_ASSERT(slot >= 0 && slot < kScratchSlots, "a slot of scratch memory");
    struct Kept {
        std::unique_ptr<void, FreeBlock> block;
        std::size_t bytes = 0;
    };
    thread_local std::array<Kept, kScratchSlots> slots;
    Kept& kept = slots[static_cast<std::size_t>(slot)];
    if (bytes > kept.bytes) {
        kept = {};
        kept.block.reset(aligned_block(bytes));
        kept.bytes = bytes;
    }
    return kept.block.get();
}

int CpuDevice::shards(int sequences) const {
    return std::min(sequences, kShards);
}

void CpuDevice::run(ThreadPool& pool, int count, const std::function<void(int)>& piece) {
    pool.run(count, piece);
}

void CpuDevice::run_ranges(ThreadPool& pool, int count, const std::function<void(int, int)>& range) {
    pool.run(count, [&](int i) { range(i, i + 1); });
}

PassOps<float> CpuDevice::pass_ops_float(Rounding rounding, PrecisionPolicy policy) {
    const bool pure = policy == PrecisionPolicy::Pure;
    switch (rounding) {
        case Rounding::None:
            break;
        case Rounding::Bf16:
            return pure ? ops_->bf16 : ops_->bf16_autocast;
        case Rounding::Fp16:
            return pure ? ops_->fp16 : ops_->fp16_autocast;
        case Rounding::Tf32:
            return ops_->tf32;
    }
    return ops_->single;
}

PassOps<double> CpuDevice::pass_ops_double() {
    return ops_->wide;
}

StepOps<float>& CpuDevice::step_ops_float() {
    return ops_->single_step;
}

StepOps<double>& CpuDevice::step_ops_double() {
    return ops_->wide_step;
}

Device& cpu_device() {
    static CpuDevice& device =
        *new CpuDevice;  // never destroyed: memory of static objects may be released after it
    return device;
}

}  // namespace normscope
