// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/cuda_device.h"

#include "core/backend/cuda/cuda_ops.h"
#include "core/backend/cuda/gpu/check.h"
#include "core/backend/cuda/gpu/kept_blocks.h"
#include "core/backend/cuda/gpu/lt_gemm.h"
#include "core/backend/cuda/gpu/pinned_copies.h"
#include "core/backend/cuda/gpu/stream_graph.h"
#include "core/backend/cuda/rounding_gemm.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace normscope::cuda {

namespace {

/// The operations of one scalar, with their GEMM.
template <class T>
struct Exact {
    Exact(Context& context, LtPlans& plans, LtType type) : gemm(context, plans, type), ops(context, gemm) {}
    LtGemm<T> gemm;
    CudaOps<T> ops;
};
struct Rounded {
    Rounded(Context& context, ShortGemmLibrary& library, Rounding rounding, PrecisionPolicy policy)
        : gemm(context, library, rounding, policy), ops(context, gemm, rounding, policy) {}
    RoundingGemm gemm;
    CudaOps<float> ops;
};

struct Stream {
    Stream() { check(cudaStreamCreateWithFlags(&at, cudaStreamNonBlocking), "cudaStreamCreate"); }
    ~Stream() { cudaStreamDestroy(at); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t at = nullptr;
};

cudaDeviceProp properties(int card) {
    cudaDeviceProp found{};
    check(cudaGetDeviceProperties(&found, card), "cudaGetDeviceProperties");
    return found;
}

/// The device whose graph the calling thread captures.
thread_local const CudaDevice* capturing = nullptr;

std::size_t total_memory() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return total;
}

}  // namespace

struct CudaDevice::State {
    State(Context& context, const std::string& device)
        : blocks(device, total_memory() / 4),
          copies(stream.at),
          single(context, plans, LtType::Float32),
          tf32(context, plans, LtType::Tf32),
          wide(context, plans, LtType::Float64),
          short_gemm(context, plans),
          bf16(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Pure),
          fp16(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Pure),
          bf16_autocast(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Autocast),
          fp16_autocast(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Autocast) {}
    Stream stream;
    Stream captured;  ///< of the thread that captures a graph
    std::mutex capture_mutex;
    std::atomic<std::uint64_t> moves = 0;  ///< of blocks of scratch memory
    KeptBlocks blocks;
    PinnedCopies copies;
    LtPlans plans;
    Exact<float> single, tf32;
    Exact<double> wide;
    LtShortGemm short_gemm;
    Rounded bf16, fp16, bf16_autocast, fp16_autocast;

    struct Kept {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    std::mutex mutex;
    std::map<std::pair<std::thread::id, int>, Kept>
        kept;  ///< scratch memory and workspaces, by thread and slot
};

CudaDevice::CudaDevice(int card) : card_(card) {
    select();
    const cudaDeviceProp found = properties(card);
    name_ = found.name;
    formats_ = card_formats(found.major);
    described_ = name_ + " (compute capability " + std::to_string(found.major) + "." +
                 std::to_string(found.minor) + ")";
    Context& context = *this;
    state_ = std::make_unique<State>(context, "CUDA device " + std::to_string(card) + " (" + name_ + ")");
}

CudaDevice::~CudaDevice() {
    cudaSetDevice(card_);
    for (const auto& [of, kept] : state_->kept) state_->blocks.release(kept.block);
}

void CudaDevice::select() const {
    check(cudaSetDevice(card_), "cudaSetDevice");
}

DeviceCapabilities CudaDevice::capabilities() const {
    return {"cuda", name_, false, formats_};
}

DeviceMemory CudaDevice::memory() const {
    select();
    DeviceMemory memory;
    check(cudaMemGetInfo(&memory.free, &memory.total), "cudaMemGetInfo");
    memory.free += state_->blocks.kept();
    return memory;
}

void* CudaDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    not_captured("allocate");
    select();
    return state_->blocks.allocate(bytes);
}
void CudaDevice::release(void* block, std::size_t) noexcept {
    if (block && cudaSetDevice(card_) == cudaSuccess) state_->blocks.release(block);
}
void CudaDevice::upload(void* to, const void* from, std::size_t bytes) {
    not_captured("upload");
    select();
    state_->copies.upload(to, from, bytes);
}
void CudaDevice::download(void* to, const void* from, std::size_t bytes) {
    not_captured("download");
    select();
    state_->copies.download(to, from, bytes);
}
std::unique_ptr<Readback> CudaDevice::read(const void* from, std::size_t bytes) {
    not_captured("read");
    select();
    auto read = state_->copies.read(from, bytes);
    return read ? std::move(read) : Device::read(from, bytes);
}
void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue().stream), "copy");
}
void CudaDevice::zero(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    check(cudaMemsetAsync(to, 0, bytes, queue().stream), "zero");
}
void CudaDevice::synchronize() {
    select();
    check(cudaStreamSynchronize(state_->stream.at), "synchronize");
}

void* CudaDevice::scratch(int slot, std::size_t bytes) {
    std::unique_lock lock(state_->mutex);
    State::Kept& mine = state_->kept[{std::this_thread::get_id(), slot}];
    lock.unlock();  // the entry is this thread's alone, and a map keeps its entries in place
    if (bytes > mine.bytes) {
        if (mine.block) ++state_->moves;
        release(mine.block, mine.bytes);
        mine = {};
        mine.block = allocate(bytes);
        mine.bytes = bytes;
    }
    return mine.block;
}
void* CudaDevice::workspace(Work slot, std::size_t bytes) {
    return scratch(kScratchSlots + static_cast<int>(slot), bytes);
}
Queue CudaDevice::queue() const {
    select();
    return {capturing == this ? state_->captured.at : state_->stream.at};
}

std::unique_ptr<Graph> CudaDevice::capture(const std::function<void()>& calls) {
    select();
    std::lock_guard lock(state_->capture_mutex);
    const std::unique_ptr<const CudaDevice*, void (*)(const CudaDevice**)> until_the_end(
        &(capturing = this), [](const CudaDevice** device) { *device = nullptr; });
    return std::make_unique<StreamGraph>(state_->captured.at, state_->stream.at, state_->moves, calls);
}

void CudaDevice::not_captured(const char* call) const {
    if (capturing == this) throw std::logic_error(std::string(call) + " in a captured step");
}

int CudaDevice::shards(int sequences) const {
    return std::min(sequences, 1);
}
void CudaDevice::run(ThreadPool&, int count, const std::function<void(int)>& piece) {
    for (int i = 0; i < count; ++i) piece(i);
}
void CudaDevice::run_ranges(ThreadPool&, int count, const std::function<void(int, int)>& range) {
    if (count > 0) range(0, count);
}

Ops<float>& CudaDevice::ops_float(Rounding rounding, PrecisionPolicy policy) {
    require_format(formats_, rounding, described_);
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
Ops<double>& CudaDevice::ops_double() {
    return state_->wide.ops;
}

}  // namespace normscope::cuda
