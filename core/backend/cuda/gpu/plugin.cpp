// SPDX-License-Identifier: GPL-3.0-or-later
// The entry of libnormscope_cuda.so (core/backend/plugin/cuda_plugin.h).
#include "core/backend/cuda/gpu/cublas_lt.h"
#include "core/backend/cuda/gpu/cuda_device.h"
#include "core/backend/cuda/launch/check.h"
#include "core/backend/plugin/cuda_plugin.h"
#include "core/base/error.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <type_traits>

namespace normscope::cuda {

namespace {

thread_local std::string error_text;

/// What `call` returns, or `failed` with the line of its exception in error_text.
template <class Call>
std::invoke_result_t<Call> guarded(std::invoke_result_t<Call> failed, Call call) noexcept {
    try {
        return call();
    } catch (const std::exception& error) {
        error_text = error.what();
    } catch (...) {
        error_text = "unknown error";
    }
    std::replace(error_text.begin(), error_text.end(), '\n', ' ');
    return failed;
}

/// libcuda.so.1 is of the driver. cudaGetDeviceCount() has one error for none and for one that is too old.
int cards() {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) throw SystemError("no NVIDIA driver (libcuda.so.1 is not found)");
    if (!cublas_lt().missing.empty()) throw SystemError(cublas_lt().missing);
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice) return 0;
    if (error == cudaErrorInsufficientDriver)
        throw SystemError("the NVIDIA driver is older than CUDA " + std::to_string(CUDART_VERSION / 1000) +
                          "." + std::to_string(CUDART_VERSION % 1000 / 10) +
                          ", which this plug-in was built with");
    check(error, "cudaGetDeviceCount");
    return count;
}

int count() {
    return guarded(-1, [] { return cards(); });
}

int describe(int card, CudaCard* to) {
    return guarded(-1, [=] {
        cudaDeviceProp found{};
        check(cudaGetDeviceProperties(&found, card), "cudaGetDeviceProperties");
        *to = {};
        std::snprintf(to->name, sizeof to->name, "%s", found.name);
        to->major = found.major;
        to->minor = found.minor;
        check(cudaSetDevice(card), "cudaSetDevice");
        check(cudaMemGetInfo(&to->free, &to->total), "cudaMemGetInfo");
        check(cudaDriverGetVersion(&to->driver), "cudaDriverGetVersion");
        return 0;
    });
}

Device* open(int card) {
    return guarded(static_cast<Device*>(nullptr), [=]() -> Device* {
        static std::mutex mutex;
        // Never destroyed: memory of static objects may be released after them.
        static auto& opened = *new std::map<int, CudaDevice*>;
        std::lock_guard lock(mutex);
        const auto known = opened.find(card);
        if (known != opened.end()) return known->second;
        return opened.emplace(card, new CudaDevice(card)).first->second;
    });
}

const char* last_error() {
    return error_text.c_str();
}

constexpr CudaPlugin kPlugin{kCudaPluginAbi, count, describe, open, last_error};

}  // namespace

}  // namespace normscope::cuda

extern "C" __attribute__((visibility("default"))) const normscope::CudaPlugin* normscope_cuda_plugin(
    int abi) {
    return abi == normscope::kCudaPluginAbi ? &normscope::cuda::kPlugin : nullptr;
}
