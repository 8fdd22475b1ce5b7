// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/emulated_cuda_device.h"

#include "core/backend/cuda/cuda_ops.h"
#include "core/backend/cuda/host_gemm.h"
#include "core/backend/cuda/rounding_gemm.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace normscope {

namespace {

constexpr std::size_t kLine = 64;

/// The operations of one scalar, with their GEMM: as on a card, with the host's GEMM for cuBLAS'.
template <class T>
struct Exact {
    Exact(cuda::Context& context, bool checked, Rounding operands = Rounding::None)
        : gemm(checked, operands, PrecisionPolicy::Autocast), ops(context, gemm) {}
    cuda::HostGemm<T> gemm;
    cuda::CudaOps<T> ops;
};
struct Rounded {
    Rounded(cuda::Context& context, cuda::ShortGemmLibrary& library, Rounding rounding,
            PrecisionPolicy policy)
        : gemm(context, library, rounding, policy), ops(context, gemm, rounding, policy) {}
    cuda::RoundingGemm gemm;
    cuda::CudaOps<float> ops;
};

}  // namespace

struct EmulatedCudaDevice::State {
    State(cuda::Context& context, bool checked)
        : single(context, checked),
          tf32(context, checked, Rounding::Tf32),
          wide(context, checked),
          short_gemm(checked),
          bf16(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Pure),
          fp16(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Pure),
          bf16_autocast(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Autocast),
          fp16_autocast(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Autocast) {}
    Exact<float> single, tf32;
    Exact<double> wide;
    cuda::HostShortGemm short_gemm;
    Rounded bf16, fp16, bf16_autocast, fp16_autocast;

    struct Kept {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    std::mutex mutex;
    std::map<std::pair<std::thread::id, int>, Kept> kept;  ///< scratch memory and workspaces, by thread and slot
};

EmulatedCudaDevice::EmulatedCudaDevice(const grid::Schedule& schedule) : schedule_(schedule) {
    // Without instrumented kernels it is not known what they have initialised.
    schedule_.checked = schedule.checked && grid::accesses_checked();
    cuda::Context& context = *this;
    state_ = std::make_unique<State>(context, schedule_.checked);
}

EmulatedCudaDevice::~EmulatedCudaDevice() {
    for (const auto& [of, kept] : state_->kept) release(kept.block, kept.bytes);
}

DeviceCapabilities EmulatedCudaDevice::capabilities() const {
    return {"cuda-emulated", "CUDA on the emulated grid", false, kEmulatedFormats};
}

DeviceMemory EmulatedCudaDevice::memory() const {
    if (schedule_.checked) {
        const auto& memory = grid::device_memory();
        return {memory.size(), memory.size() - memory.used()};
    }
    return cpu_device().memory();
}

void* EmulatedCudaDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const auto out_of_memory = [&] {
        return SystemError("emulated CUDA device: out of memory: " + std::to_string(bytes >> 20) +
                           " MiB were requested");
    };
    if (schedule_.checked) {
        try {
            return grid::device_memory().allocate(bytes);
        } catch (const grid::GridFault&) {
            throw out_of_memory();
        }
    }
    void* block = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    if (!block) throw out_of_memory();
    std::memset(block, 0xff, bytes);
    return block;
}

void EmulatedCudaDevice::release(void* block, std::size_t) noexcept {
    if (schedule_.checked)
        grid::device_memory().release(block);
    else
        std::free(block);
}

void EmulatedCudaDevice::upload(void* to, const void* from, std::size_t bytes) {
    if (schedule_.checked) grid::device_memory().host_wrote(to, bytes);
    std::memcpy(to, from, bytes);
}
void EmulatedCudaDevice::download(void* to, const void* from, std::size_t bytes) {
    if (schedule_.checked) grid::device_memory().host_reads(from, bytes, "a copy to the host");
    std::memcpy(to, from, bytes);
}
void EmulatedCudaDevice::copy(void* to, const void* from, std::size_t bytes) {
    if (schedule_.checked) {
        grid::device_memory().host_reads(from, bytes, "a copy within the device");
        grid::device_memory().host_wrote(to, bytes);
    }
    std::memcpy(to, from, bytes);
}
void EmulatedCudaDevice::zero(void* to, std::size_t bytes) {
    if (schedule_.checked) grid::device_memory().host_wrote(to, bytes);
    std::memset(to, 0, bytes);
}

void* EmulatedCudaDevice::scratch(int slot, std::size_t bytes) {
    std::unique_lock lock(state_->mutex);
    State::Kept& mine = state_->kept[{std::this_thread::get_id(), slot}];
    lock.unlock();  // the entry is this thread's alone, and a map keeps its entries in place
    if (bytes > mine.bytes) {
        if (mine.block) release(mine.block, mine.bytes);
        mine = {};
        mine.block = allocate(bytes);
        mine.bytes = bytes;
    }
    return mine.block;
}
void* EmulatedCudaDevice::workspace(cuda::Work slot, std::size_t bytes) {
    return scratch(kScratchSlots + static_cast<int>(slot), bytes);
}

int EmulatedCudaDevice::shards(int sequences) const {
    return std::min(sequences, 1);
}
void EmulatedCudaDevice::run(ThreadPool&, int count, const std::function<void(int)>& piece) {
    for (int i = 0; i < count; ++i) piece(i);
}
void EmulatedCudaDevice::run_ranges(ThreadPool&, int count, const std::function<void(int, int)>& range) {
    if (count > 0) range(0, count);
}

Ops<float>& EmulatedCudaDevice::ops_float(Rounding rounding, PrecisionPolicy policy) {
    const bool pure = policy == PrecisionPolicy::Pure;
    switch (rounding) {
        case Rounding::None:
            break;
        case Rounding::Bf16:
            return pure ? state_->bf16.ops : state_->bf16_autocast.ops;
        case Rounding::Fp16:
            return pure ? state_->fp16.ops : state_->fp16_autocast.ops;
        case Rounding::Tf32:
            return state_->tf32.ops;
    }
    return state_->single.ops;
}
Ops<double>& EmulatedCudaDevice::ops_double() {
    return state_->wide.ops;
}

Device& emulated_cuda_device() {
    // Never destroyed: memory of static objects may be released after it.
    static EmulatedCudaDevice& device =
        *new EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false});
    return device;
}

}  // namespace normscope
