// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/cuda_device.h"

#include "core/backend/cuda/compact/cuda_compact_ops.h"
#include "core/backend/cuda/gpu/caching_allocator.h"
#include "core/backend/cuda/gpu/lt_gemm.h"
#include "core/backend/cuda/gpu/pinned_copies.h"
#include "core/backend/cuda/gpu/stream_graph.h"
#include "core/backend/cuda/launch/check.h"
#include "core/backend/cuda/ops/cuda_ops.h"
#include "core/backend/cuda/rounding_gemm.h"

#include <chrono>
#include <mutex>

namespace normscope::cuda {

namespace {

/// The operations of a pass in one scalar, with their GEMM.
template <class T>
struct Exact {
    Exact(Context& context, LtPlans& plans, LtType type) : gemm(context, plans, type), ops(context, gemm) {}
    LtGemm<T> gemm;
    CudaPassOps<T> ops;
};
struct Rounded {
    Rounded(Context& context, ShortGemmLibrary& library, Rounding rounding, PrecisionPolicy policy)
        : gemm(context, library, rounding, policy), ops(context, gemm, rounding, policy) {
        if (policy == PrecisionPolicy::Pure) return;
        compact = compact_ops(context, library, rounding);
        ops.compact = compact.get();
    }
    RoundingGemm gemm;
    CudaPassOps<float> ops;
    std::unique_ptr<CompactOps<float>> compact;
};

/// How long replicas wait for each other: many steps of the small stacks that are replicas.
constexpr std::chrono::milliseconds kPatience{50};

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

std::size_t total_memory() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return total;
}

}  // namespace

/// Of one lane, or of all replicas of a group.
struct CudaDevice::Streams {
    Stream calls;
    Stream captured;  ///< of the thread that captures a graph
    std::mutex capture_mutex;
    LtPlans plans;
};

struct CudaDevice::State {
    State(Context& context, std::shared_ptr<CachingAllocator> shared, std::shared_ptr<Streams> in)
        : streams(std::move(in)),
          blocks(std::move(shared)),
          copies(streams->calls.at),
          single(context, streams->plans, LtType::Float32),
          tf32(context, streams->plans, LtType::Tf32),
          wide(context, streams->plans, LtType::Float64),
          short_gemm(context, streams->plans),
          bf16(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Pure),
          fp16(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Pure),
          bf16_autocast(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Autocast),
          fp16_autocast(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Autocast),
          single_step(context, single.gemm),
          wide_step(context, wide.gemm) {}
    const std::shared_ptr<Streams> streams;
    const std::shared_ptr<CachingAllocator> blocks;
    PinnedCopies copies;
    Exact<float> single, tf32;
    Exact<double> wide;
    LtShortGemm short_gemm;
    Rounded bf16, fp16, bf16_autocast, fp16_autocast;
    CudaStepOps<float> single_step;
    CudaStepOps<double> wide_step;
};

CudaDevice::CudaDevice(int card, std::shared_ptr<CachingAllocator> blocks, std::shared_ptr<Streams> streams,
                       std::unique_ptr<Replica> replica)
    : DeviceBase(std::move(replica)), card_(card) {
    select();
    const cudaDeviceProp found = properties(card);
    name_ = found.name;
    formats_ = card_formats(found.major);
    described_ = name_ + " (compute capability " + std::to_string(found.major) + "." +
                 std::to_string(found.minor) + ")";
    if (!blocks)
        blocks = std::make_shared<CachingAllocator>(
            "CUDA device " + std::to_string(card) + " (" + name_ + ")", total_memory() / 4);
    if (!streams) streams = std::make_shared<Streams>();
    Context& context = *this;
    state_ = std::make_unique<State>(context, std::move(blocks), std::move(streams));
}

CudaDevice::~CudaDevice() {
    release_scratch();
    if (cudaSetDevice(card_) != cudaSuccess) return;
    // The memory of replicas is the card's own, whose stream does not wait for theirs.
    cudaStreamSynchronize(state_->streams->calls.at);
    state_->blocks->forget(this);
}

std::unique_ptr<Device> CudaDevice::lane() {
    return std::unique_ptr<Device>(new CudaDevice(card_, state_->blocks, nullptr, nullptr));
}

std::vector<std::unique_ptr<Device>> CudaDevice::replicas(int count, std::size_t bytes_each) {
    select();
    const auto streams = std::make_shared<Streams>();
    return make_replicas(count, bytes_each, kPatience, [&](std::unique_ptr<Replica> replica) {
        return std::unique_ptr<Device>(new CudaDevice(card_, state_->blocks, streams, std::move(replica)));
    });
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
    memory.free += state_->blocks->kept() + unused_of_replica();
    return memory;
}

void* CudaDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    not_captured("allocate");
    select();
    if (void* const block = allocate_of_replica(bytes)) return block;
    return state_->blocks->allocate(this, bytes);
}
void CudaDevice::release(void* block, std::size_t) noexcept {
    if (!block || release_of_replica(block)) return;
    if (cudaSetDevice(card_) == cudaSuccess) state_->blocks->release(block);
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
    submit(queue(), SimpleCall("copy", [=](const Queue& in) {
               check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, in.stream), "copy");
           }));
}
void CudaDevice::zero(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    submit(queue(), SimpleCall("zero", [=](const Queue& in) {
               check(cudaMemsetAsync(to, 0, bytes, in.stream), "zero");
           }));
}
void CudaDevice::synchronize() {
    select();
    check(cudaStreamSynchronize(state_->streams->calls.at), "synchronize");
}

Queue CudaDevice::queue() const {
    select();
    return {state_->streams->calls.at, is_captured() ? captured() : nullptr};
}

std::unique_ptr<Executable> CudaDevice::executable(std::vector<const Call*> calls) {
    select();
    Streams& streams = *state_->streams;
    std::lock_guard lock(streams.capture_mutex);
    return std::make_unique<StreamGraph>(streams.captured.at, streams.calls.at, [&] {
        for (const Call* call : calls) call->run({streams.captured.at, nullptr});
    });
}

PassOps<float> CudaDevice::pass_ops_float(Rounding rounding, PrecisionPolicy policy) {
    require_format(formats_, rounding, described_);
    return ops_of(*state_, rounding, policy);
}
PassOps<double> CudaDevice::pass_ops_double() {
    return state_->wide.ops;
}
StepOps<float>& CudaDevice::step_ops_float() {
    return state_->single_step;
}
StepOps<double>& CudaDevice::step_ops_double() {
    return state_->wide_step;
}

}  // namespace normscope::cuda
