// SPDX-License-Identifier: GPL-3.0-or-later
// A plug-in whose one card is the emulated device, for runs in another process on a card that fails. From the
// environment: CARD_FAULT, "allocation 40" or "launch 900" (EmulatedCudaDevice::Fault), and CARD_FREE, the
// bytes that it reports as free.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/plugin/cuda_plugin.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace normscope;

namespace {

constexpr std::size_t kTotal = std::size_t{8} << 30;

std::size_t free_bytes() {
    const char* bytes = std::getenv("CARD_FREE");
    return bytes ? std::strtoull(bytes, nullptr, 10) : std::size_t{6} << 30;
}

class Card final : public EmulatedCudaDevice {
  public:
    Card() : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}) {
        const char* text = std::getenv("CARD_FAULT");
        std::istringstream words(text ? text : "");
        std::string kind;
        Fault fault;
        std::uint64_t number = 0;
        if (words >> kind >> number) (kind == "launch" ? fault.launch : fault.allocation) = number;
        fail_at(fault);
    }
    DeviceCapabilities capabilities() const override {
        return {"cuda", "Emulated card", false, kEmulatedFormats};
    }
    DeviceMemory memory() const override { return {kTotal, free_bytes()}; }
};

int count() {
    return 1;
}
int describe(int card, CudaCard* to) {
    if (card != 0) return -1;
    *to = {"Emulated card", 9, 0, free_bytes(), kTotal, 13020};
    return 0;
}
Device* open(int) {
    static Card& card = *new Card;
    return &card;
}
const char* last_error() {
    return "no such card";
}

constexpr CudaPlugin kPlugin{kCudaPluginAbi, count, describe, open, last_error};

}  // namespace

extern "C" __attribute__((visibility("default"))) const CudaPlugin* normscope_cuda_plugin(int abi) {
    return abi == kCudaPluginAbi ? &kPlugin : nullptr;
}
