// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/plugin/load_cuda.h"

#include "core/backend/plugin/open_plugin.h"
#include "core/base/error.h"

#include <cstdio>

namespace normscope {

namespace {

constexpr PluginFile kCudaFile{"cuda", kCudaPluginSymbol, "NORMSCOPE_CUDA_PLUGIN", "a build with nvcc makes"};

CudaCards missing(std::string what) {
    CudaCards none;
    none.missing = std::move(what);
    return none;
}

SystemError failed(const CudaCards& cards, int card) {
    return SystemError("cuda:" + std::to_string(card) + ": " + cards.plugin->last_error());
}

}  // namespace

std::vector<std::string> cuda_plugin_paths() {
    return plugin_paths(kCudaFile);
}

CudaCards load_cuda(const std::vector<std::string>& paths) {
    const OpenedPlugin opened = open_plugin(kCudaFile, paths);
    if (!opened.entry) return missing(opened.missing);
    const CudaPlugin* plugin = reinterpret_cast<CudaPluginEntry>(opened.entry)(kCudaPluginAbi);
    if (!plugin || plugin->abi != kCudaPluginAbi) return missing(close_other_version(opened, kCudaPluginAbi));
    CudaCards cards{plugin, plugin->count(), {}};
    if (cards.count < 0) cards.missing = plugin->last_error();
    if (cards.count == 0) cards.missing = "no NVIDIA card";
    if (cards.count < 0) cards.count = 0;
    return cards;
}

const CudaCards& cuda_cards() {
    static const CudaCards cards = load_cuda(cuda_plugin_paths());
    return cards;
}

CudaCard describe_card(const CudaCards& cards, int card) {
    CudaCard found{};
    if (cards.plugin->describe(card, &found) != 0) throw failed(cards, card);
    return found;
}

std::string card_line(const CudaCards& cards, int card) {
    const CudaCard found = describe_card(cards, card);
    constexpr double gib = 1 << 30;
    char text[512];
    std::snprintf(text, sizeof text, "%s, compute capability %d.%d, %.1f of %.1f GiB free, driver CUDA %d.%d",
                  found.name, found.major, found.minor, static_cast<double>(found.free) / gib,
                  static_cast<double>(found.total) / gib, found.driver / 1000, found.driver % 1000 / 10);
    return text;
}

Formats formats_of_card(const CudaCards& cards, int card) {
    return card_formats(describe_card(cards, card).major);
}

Device& open_card(const CudaCards& cards, int card) {
    Device* device = cards.plugin->open(card);
    if (!device) throw failed(cards, card);
    return *device;
}

}  // namespace normscope
