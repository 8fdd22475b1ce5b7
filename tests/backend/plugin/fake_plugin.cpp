// SPDX-License-Identifier: GPL-3.0-or-later
// Plug-ins of the tests, by what is defined: FAKE_ABI, FAKE_CARDS (−1: something is missing). The device of a
// card throws what a real one may throw. Symbols are hidden, as those of libnormscope_cuda.so.
#include "core/backend/device.h"
#include "core/backend/plugin/cuda_plugin.h"
#include "core/base/error.h"

using namespace normscope;

namespace {

class FullDevice final : public Device {
  public:
    DeviceCapabilities capabilities() const override { return {"cuda", "Fake card", false, card_formats(9)}; }
    DeviceMemory memory() const override { return {std::size_t{8} << 30, std::size_t{6} << 30}; }
    void* allocate(std::size_t) override {
        throw SystemError("Fake card: out of memory: 3 MiB were requested");
    }
    void release(void*, std::size_t) noexcept override {}
    void upload(void*, const void*, std::size_t) override {}
    void download(void*, const void*, std::size_t) override {}
    void copy(void*, const void*, std::size_t) override {}
    void zero(void*, std::size_t) override {}
    void synchronize() override { throw std::bad_alloc(); }
    void* scratch(int, std::size_t) override { return nullptr; }
    int shards(int) const override { return 1; }
    void run(ThreadPool&, int, const std::function<void(int)>&) override {}
    void run_ranges(ThreadPool&, int, const std::function<void(int, int)>&) override {}
    PassOps<float> pass_ops_float(Rounding, PrecisionPolicy) override { no_arithmetic(); }
    PassOps<double> pass_ops_double() override { no_arithmetic(); }
    StepOps<float>& step_ops_float() override { no_arithmetic(); }
    StepOps<double>& step_ops_double() override { no_arithmetic(); }

  private:
    [[noreturn]] static void no_arithmetic() { throw InputError("Fake card: no such arithmetic"); }
};

int count() {
    return FAKE_CARDS;
}
int describe(int card, CudaCard* to) {
    if (card < 0 || card >= FAKE_CARDS) return -1;
    *to = {"Fake card", 9, 0, std::size_t{6} << 30, std::size_t{8} << 30, 13020};
    return 0;
}
Device* open(int card) {
    static FullDevice device;
    return card == 0 ? &device : nullptr;
}
const char* last_error() {
    return "the fake card has a fault";
}

constexpr CudaPlugin kPlugin{FAKE_ABI, count, describe, open, last_error};

}  // namespace

extern "C" __attribute__((visibility("default"))) const CudaPlugin* normscope_cuda_plugin(int abi) {
    return abi == FAKE_ABI ? &kPlugin : nullptr;
}
