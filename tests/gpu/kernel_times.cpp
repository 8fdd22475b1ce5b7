// SPDX-License-Identifier: GPL-3.0-or-later
// A library that a CUDA program loads by CUDA_INJECTION64_PATH: at its end, one JSON object a line in the
// file $NORMSCOPE_KERNEL_TIMES, of each kernel and grid size that ran from a graph: how often, its time in
// all. The last line is of all: the time in kernels, and from the first to the last. Needs CUPTI, which nsys
// and PyTorch's profiler use too.
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace {

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
#else
using Kernel = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = 8 << 20;

struct Time {
    std::uint64_t count = 0, ns = 0;
};

struct Collected {
    std::mutex mutex;
    std::map<std::pair<std::string, long long>, Time> kernels;
    std::uint64_t first = ~0ull, last = 0, busy = 0;
};

Collected& collected() {
    static Collected* const all =
        new Collected;  // outlives every static destructor: buffers arrive at the very end
    return *all;
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
    *size = kBufferBytes;
    *records = 0;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    CUpti_Activity* record = nullptr;
    Collected& all = collected();
    const std::lock_guard lock(all.mutex);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
        const auto& kernel = *reinterpret_cast<const Kernel*>(record);
        if (kernel.graphNodeId == 0) continue;
        Time& time = all.kernels[{kernel.name, 1ll * kernel.gridX * kernel.gridY * kernel.gridZ}];
        ++time.count;
        time.ns += kernel.end - kernel.start;
        all.busy += kernel.end - kernel.start;
        all.first = std::min(all.first, kernel.start);
        all.last = std::max(all.last, kernel.end);
    }
    std::free(buffer);
}

std::string readable(const std::string& name) {
    int status = 0;
    char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    std::string result = text ? text : name;
    std::free(text);
    for (char& c : result)
        if (c == '"' || c == '\\' || c == '\n') c = ' ';
    return result;
}

void write_all() {
    cuptiActivityFlushAll(1);
    const char* const path = std::getenv("NORMSCOPE_KERNEL_TIMES");
    std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
    if (!file) return;
    Collected& all = collected();
    const std::lock_guard lock(all.mutex);
    for (const auto& [kernel, time] : all.kernels)
        std::fprintf(file, "{\"kernel\": \"%s\", \"blocks\": %lld, \"count\": %llu, \"ms\": %.6f}\n",
                     readable(kernel.first).c_str(), kernel.second,
                     static_cast<unsigned long long>(time.count), static_cast<double>(time.ns) / 1e6);
    if (all.last > all.first)
        std::fprintf(file, "{\"busy_ms\": %.6f, \"span_ms\": %.6f}\n", static_cast<double>(all.busy) / 1e6,
                     static_cast<double>(all.last - all.first) / 1e6);
    std::fclose(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    collected();
    if (cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
        return 0;
    std::atexit(write_all);
    return 1;
}
