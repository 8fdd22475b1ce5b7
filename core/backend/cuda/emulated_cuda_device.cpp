// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/emulated_cuda_device.h"

#include "core/backend/cuda/compact/cuda_compact_ops.h"
#include "core/backend/cuda/host_gemm.h"
#include "core/backend/cuda/launch/queued_gemm.h"
#include "core/backend/cuda/ops/cuda_ops.h"
#include "core/backend/cuda/rounding_gemm.h"
#include "core/backend/shared/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace normscope {

namespace {

constexpr std::size_t kLine = 64;

/// The operations of a pass in one scalar, with their GEMM: as on a card, with the host's GEMM for cuBLAS'.
template <class T>
struct Exact {
    Exact(cuda::Context& context, bool checked, int stored_tokens, Rounding operands = Rounding::None)
        : gemm(checked, operands, PrecisionPolicy::Autocast),
          queued(context, gemm, operands),
          ops(context, queued, Rounding::None, PrecisionPolicy::Pure, stored_tokens) {}
    cuda::HostGemm<T> gemm;
    cuda::QueuedGemm<T> queued;
    cuda::CudaPassOps<T> ops;
};
struct Rounded {
    Rounded(cuda::Context& context, cuda::ShortGemmLibrary& library, Rounding rounding,
            PrecisionPolicy policy, int stored_tokens)
        : gemm(context, library, rounding, policy), ops(context, gemm, rounding, policy, stored_tokens) {
        if (policy == PrecisionPolicy::Pure) return;
        compact = cuda::compact_ops(context, library, rounding);
        ops.compact = compact.get();
    }
    cuda::RoundingGemm gemm;
    cuda::CudaPassOps<float> ops;
    std::unique_ptr<CompactOps<float>> compact;
};

/// Calls, to be made again. before: called before each of them.
class CapturedCalls final : public cuda::Executable {
  public:
    CapturedCalls(std::vector<const cuda::Call*> calls, const cuda::Queue& queue,
                  std::function<void()> before)
        : calls_(std::move(calls)), queue_(queue), before_(std::move(before)) {}
    void launch() override {
        for (const cuda::Call* call : calls_) {
            before_();
            call->run(queue_);
        }
    }

  private:
    const std::vector<const cuda::Call*> calls_;
    const cuda::Queue queue_;
    const std::function<void()> before_;
};

}  // namespace

struct EmulatedCudaDevice::State {
    State(cuda::Context& context, bool checked, int stored)
        : single(context, checked, stored),
          tf32(context, checked, stored, Rounding::Tf32),
          wide(context, checked, stored),
          host_short_gemm(checked),
          short_gemm(context, host_short_gemm),
          bf16(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Pure, stored),
          fp16(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Pure, stored),
          bf16_autocast(context, short_gemm, Rounding::Bf16, PrecisionPolicy::Autocast, stored),
          fp16_autocast(context, short_gemm, Rounding::Fp16, PrecisionPolicy::Autocast, stored),
          single_step(context, single.queued),
          wide_step(context, wide.queued) {}
    Exact<float> single, tf32;
    Exact<double> wide;
    cuda::HostShortGemm host_short_gemm;
    cuda::QueuedShortGemm short_gemm;
    Rounded bf16, fp16, bf16_autocast, fp16_autocast;
    cuda::CudaStepOps<float> single_step;
    cuda::CudaStepOps<double> wide_step;
};

EmulatedCudaDevice::EmulatedCudaDevice(const grid::Schedule& schedule, int stored_tokens,
                                       std::unique_ptr<cuda::Replica> replica)
    : DeviceBase(std::move(replica)), schedule_(schedule), stored_tokens_(stored_tokens) {
    // Without instrumented kernels it is not known what they have initialised.
    schedule_.checked = schedule.checked && grid::accesses_checked();
    cuda::Context& context = *this;
    state_ = std::make_unique<State>(context, schedule_.checked, stored_tokens);
}

EmulatedCudaDevice::~EmulatedCudaDevice() {
    release_scratch();
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
    not_captured("allocate");
    require_present();
    const auto out_of_memory = [&] {
        return OutOfMemory("emulated CUDA device: out of memory: " +
                           std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB were requested");
    };
    if (fault_.allocation > 0 && ++allocations_ == fault_.allocation) throw out_of_memory();
    if (void* const block = allocate_of_replica(bytes)) {
        if (!schedule_.checked) std::memset(block, 0xff, bytes);
        return block;
    }
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
    if (release_of_replica(block)) return;
    if (schedule_.checked)
        grid::device_memory().release(block);
    else
        std::free(block);
}

void EmulatedCudaDevice::fail_at(Fault fault) {
    fault_ = fault;
    allocations_ = launches_ = 0;
    lost_ = fault.lost;
}

void EmulatedCudaDevice::require_present() const {
    if (lost_) throw SystemError("emulated CUDA device: the device is lost");
}

void EmulatedCudaDevice::count_launch() const {
    if (fault_.launch > 0 && ++launches_ == fault_.launch) lost_ = true;
    require_present();
}

void EmulatedCudaDevice::synchronize() {
    require_present();
}
void EmulatedCudaDevice::upload(void* to, const void* from, std::size_t bytes) {
    not_captured("upload");
    require_present();
    if (schedule_.checked) grid::device_memory().host_wrote(to, bytes);
    std::memcpy(to, from, bytes);
}
void EmulatedCudaDevice::download(void* to, const void* from, std::size_t bytes) {
    not_captured("download");
    require_present();
    if (schedule_.checked) grid::device_memory().host_reads(from, bytes, "a copy to the host");
    std::memcpy(to, from, bytes);
}
void EmulatedCudaDevice::copy(void* to, const void* from, std::size_t bytes) {
    const auto moved = static_cast<double>(bytes);
    if (!cuda::is_logged(log_, {moved, moved, 0}, "copy")) return;
    cuda::submit(queue(), cuda::SimpleCall("copy", [=, checked = schedule_.checked](const cuda::Queue&) {
                     if (checked) {
                         grid::device_memory().host_reads(from, bytes, "a copy within the device");
                         grid::device_memory().host_wrote(to, bytes);
                     }
                     std::memcpy(to, from, bytes);
                 }));
}
void EmulatedCudaDevice::zero(void* to, std::size_t bytes) {
    if (!cuda::is_logged(log_, {0, static_cast<double>(bytes), 0}, "zero")) return;
    cuda::submit(queue(), cuda::SimpleCall("zero", [=, checked = schedule_.checked](const cuda::Queue&) {
                     if (checked) grid::device_memory().host_wrote(to, bytes);
                     std::memset(to, 0, bytes);
                 }));
}

cuda::Queue EmulatedCudaDevice::queue() const {
    if (is_captured()) return {schedule_, captured(), log_};
    count_launch();
    return {schedule_, nullptr, log_};
}

std::unique_ptr<cuda::Executable> EmulatedCudaDevice::executable(std::vector<const cuda::Call*> calls) {
    return std::make_unique<CapturedCalls>(std::move(calls), cuda::Queue{schedule_, nullptr, nullptr},
                                           [this] { count_launch(); });
}

std::unique_ptr<Device> EmulatedCudaDevice::lane() {
    require_present();
    return std::make_unique<EmulatedCudaDevice>(schedule_, stored_tokens_);
}

std::vector<std::unique_ptr<Device>> EmulatedCudaDevice::replicas(int count, std::size_t bytes_each) {
    require_present();
    return make_replicas(count, bytes_each, patience_, [&](std::unique_ptr<cuda::Replica> replica) {
        return std::make_unique<EmulatedCudaDevice>(schedule_, stored_tokens_, std::move(replica));
    });
}

PassOps<float> EmulatedCudaDevice::pass_ops_float(Rounding rounding, PrecisionPolicy policy) {
    return ops_of(*state_, rounding, policy);
}
PassOps<double> EmulatedCudaDevice::pass_ops_double() {
    return state_->wide.ops;
}
StepOps<float>& EmulatedCudaDevice::step_ops_float() {
    return state_->single_step;
}
StepOps<double>& EmulatedCudaDevice::step_ops_double() {
    return state_->wide_step;
}

EmulatedCudaDevice& emulated_cuda_device() {
    // Never destroyed: memory of static objects may be released after it.
    static EmulatedCudaDevice& device = *new EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false});
    return device;
}

}  // namespace normscope
