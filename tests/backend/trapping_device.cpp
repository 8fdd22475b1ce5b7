// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/backend/trapping_device.h"

#include "core/backend/cpu/host/thread_pool.h"
#include "core/base/error.h"
#include "tests/backend/trapping_ops.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace normscope {

namespace {

constexpr std::size_t kReserved = std::size_t{4} << 30, kLine = 64;

std::byte* map_range(int protection) {
    void* range = mmap(nullptr, kReserved, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw SystemError("trapping device: no free address range");
    return static_cast<std::byte*>(range);
}

/// What of an allocated block is not used: the next one never begins where the last one ends.
std::size_t padded(std::size_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine + kLine;
}

}  // namespace

struct TrappingDevice::State {
    std::byte* issued = map_range(PROT_NONE);
    std::byte* numbers = map_range(PROT_READ | PROT_WRITE);
    std::atomic<std::size_t> operations{0};
    std::size_t id;
    std::mutex mutex;
    std::map<std::size_t, std::size_t> free{{0, kReserved}};  ///< begin, size
    std::size_t in_use = 0;
    std::vector<std::unique_ptr<TrappingPassOps<float>>>
        single;  ///< one for each rounding; then under autocast
    std::unique_ptr<TrappingPassOps<double>> wide;
    std::unique_ptr<StepOps<float>> single_step;
    std::unique_ptr<StepOps<double>> wide_step;
};

TrappingDevice::TrappingDevice() : state_(std::make_unique<State>()) {
    static std::atomic<std::size_t> made{0};
    state_->id = made++;
    Device& cpu = cpu_device();
    for (const PrecisionPolicy policy : {PrecisionPolicy::Pure, PrecisionPolicy::Autocast})
        for (const Rounding rounding : {Rounding::None, Rounding::Bf16, Rounding::Fp16, Rounding::Tf32})
            state_->single.push_back(std::make_unique<TrappingPassOps<float>>(
                *this, cpu.pass_ops<float>(rounding, policy), state_->operations));
    state_->wide =
        std::make_unique<TrappingPassOps<double>>(*this, cpu.pass_ops<double>(), state_->operations);
    state_->single_step =
        std::make_unique<TrappingStepOps<float>>(*this, cpu.step_ops<float>(), state_->operations);
    state_->wide_step =
        std::make_unique<TrappingStepOps<double>>(*this, cpu.step_ops<double>(), state_->operations);
}

TrappingDevice::~TrappingDevice() {
    munmap(state_->issued, kReserved);
    munmap(state_->numbers, kReserved);
}

DeviceCapabilities TrappingDevice::capabilities() const {
    return {"trapping", "trapping device", false, kEmulatedFormats};
}
DeviceMemory TrappingDevice::memory() const {
    return {kReserved, kReserved - in_use()};
}

void* TrappingDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const std::size_t needed = padded(bytes);
    std::lock_guard lock(state_->mutex);
    for (auto& [begin, size] : state_->free) {
        if (size < needed) continue;
        const std::size_t at = begin, left = size - needed;
        state_->free.erase(at);
        if (left > 0) state_->free[at + needed] = left;
        state_->in_use += needed;
        std::memset(state_->numbers + at, 0xff, needed);  // NaN: what is read before it is written shows
        return state_->issued + at;
    }
    throw SystemError("trapping device: out of memory");
}

void TrappingDevice::release(void* block, std::size_t bytes) noexcept {
    const auto at = static_cast<std::size_t>(static_cast<std::byte*>(block) - state_->issued);
    std::lock_guard lock(state_->mutex);
    state_->in_use -= padded(bytes);
    auto here = state_->free.emplace(at, padded(bytes)).first;
    const auto next = std::next(here);
    if (next != state_->free.end() && here->first + here->second == next->first) {
        here->second += next->second;
        state_->free.erase(next);
    }
    if (here == state_->free.begin()) return;
    const auto before = std::prev(here);
    if (before->first + before->second != here->first) return;
    before->second += here->second;
    state_->free.erase(here);
}

void TrappingDevice::upload(void* to, const void* from, std::size_t bytes) {
    std::memcpy(real(to, "upload"), from, bytes);
}
void TrappingDevice::download(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, real(from, "download"), bytes);
}
void TrappingDevice::copy(void* to, const void* from, std::size_t bytes) {
    std::memcpy(real(to, "copy"), real(from, "copy"), bytes);
}
void TrappingDevice::zero(void* to, std::size_t bytes) {
    std::memset(real(to, "zero"), 0, bytes);
}

void* TrappingDevice::scratch(int slot, std::size_t bytes) {
    struct Kept {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    thread_local std::map<std::pair<std::size_t, int>, Kept>
        kept;  // a device that is gone took its memory along
    Kept& mine = kept[{state_->id, slot}];
    if (bytes > mine.bytes) {
        if (mine.block) release(mine.block, mine.bytes);
        mine = {allocate(bytes), bytes};
    }
    return mine.block;
}

int TrappingDevice::shards(int sequences) const {
    return cpu_device().shards(sequences);
}
void TrappingDevice::run(ThreadPool& pool, int count, const std::function<void(int)>& piece) {
    pool.run(count, piece);
}
void TrappingDevice::run_ranges(ThreadPool& pool, int count, const std::function<void(int, int)>& range) {
    cpu_device().run_ranges(pool, count, range);
}

PassOps<float> TrappingDevice::pass_ops_float(Rounding rounding, PrecisionPolicy policy) {
    const std::size_t of_policy = policy == PrecisionPolicy::Autocast ? 4 : 0;
    return *state_->single[of_policy + static_cast<std::size_t>(rounding)];
}
PassOps<double> TrappingDevice::pass_ops_double() {
    return *state_->wide;
}
StepOps<float>& TrappingDevice::step_ops_float() {
    return *state_->single_step;
}
StepOps<double>& TrappingDevice::step_ops_double() {
    return *state_->wide_step;
}

void* TrappingDevice::real(const void* address, const char* operation) const {
    if (!address) return nullptr;
    const auto* at = static_cast<const std::byte*>(address);
    if (at < state_->issued || at >= state_->issued + kReserved) {
        std::fprintf(stderr, "trapping device: %s was given an address of the host\n", operation);
        std::abort();
    }
    return state_->numbers + (at - state_->issued);
}

std::size_t TrappingDevice::operations() const {
    return state_->operations;
}
std::size_t TrappingDevice::in_use() const {
    std::lock_guard lock(state_->mutex);
    return state_->in_use;
}

}  // namespace normscope
