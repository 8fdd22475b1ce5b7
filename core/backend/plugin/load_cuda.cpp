// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/plugin/load_cuda.h"

#include "core/base/error.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace normscope {

namespace {

constexpr const char* kVariable = "NORMSCOPE_CUDA_PLUGIN";

std::string dynamic_linker_error() {
    const char* text = dlerror();
    return text ? text : "unknown error of the dynamic linker";
}

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
    if (const char* named = std::getenv(kVariable)) return {named};
    std::error_code error;
    const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const auto folder = executable.parent_path();
    std::vector<std::string> paths;
    for (const char* relative : {".", "../lib", "../../lib"})
        paths.push_back((folder / relative / kCudaPluginFile).lexically_normal().string());
    return paths;
}

CudaCards load_cuda(const std::vector<std::string>& paths) {
    if (paths.size() == 1 && paths[0].empty()) return missing(std::string(kVariable) + " is empty");
    std::string path;
    for (const std::string& candidate : paths)
        if (std::error_code error; path.empty() && std::filesystem::exists(candidate, error))
            path = candidate;
    if (path.empty()) {
        if (paths.size() == 1) return missing(paths[0] + " does not exist");
        return missing(std::string("no plug-in ") + kCudaPluginFile + ", which a build with nvcc makes");
    }
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return missing(dynamic_linker_error());
    const auto enter = reinterpret_cast<CudaPluginEntry>(dlsym(library, kCudaPluginSymbol));
    if (!enter) {
        dlclose(library);
        return missing(path + " has no function " + kCudaPluginSymbol);
    }
    const CudaPlugin* plugin = enter(kCudaPluginAbi);
    if (!plugin || plugin->abi != kCudaPluginAbi) {
        dlclose(library);
        return missing(path + " is of another version of Normscope (its interface is not number " +
                       std::to_string(kCudaPluginAbi) + ")");
    }
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
