// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a kernel's source includes: CUDA's spelling, with nvcc from CUDA itself and with the host's compiler
// from the emulated grid (emulator.h). Kernels are written once and must keep to what both know: threadIdx,
// blockIdx, blockDim, gridDim, __syncthreads, __syncthreads_count, __syncwarp, __threadfence, __shfl_sync,
// __shfl_xor_sync, __shfl_down_sync,
// __ballot_sync, __any_sync, __all_sync, __ffs, warp_reduce, atomicAdd, atomicMax, atomicInc, atomicExch, the
// functions of tensor_core.h, and
//
//   NORMSCOPE_KERNEL void kernel(…)            what a kernel computes: cuda/launch/kernel.h makes one of it
//   NORMSCOPE_SHARED(float, tile, 256);        an array of the block's shared memory
//   NORMSCOPE_DYNAMIC_SHARED(float, buffer);   the size given at the launch, as a pointer
//   launch("name", kernel, {grid, block, shared_bytes, stream}, arguments…);

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#define NORMSCOPE_SHARED(type, name, count) __shared__ type name[count]
#define NORMSCOPE_KERNEL __device__ __forceinline__
#define NORMSCOPE_DYNAMIC_SHARED(type, name)                  \
    extern __shared__ __align__(16) unsigned char storage_[]; \
    type* name = reinterpret_cast<type*>(storage_)

namespace normscope::grid {
using Stream = cudaStream_t;
struct Shape {
    dim3 grid, block;
    std::size_t dynamic_shared = 0;
    Stream stream = nullptr;
};
/// Shared memory that a launch may use without the kernel's attribute for more.
inline constexpr std::size_t kDynamicSharedWithout = 48 * 1024;
/// The error of the launch itself; what the kernel does is known later.
template <class... P, class... A>
cudaError_t launch(const char*, void (*kernel)(P...), const Shape& shape, A... arguments) {
    if (shape.dynamic_shared > kDynamicSharedWithout)
        if (const cudaError_t error = cudaFuncSetAttribute(
                kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.dynamic_shared));
            error != cudaSuccess)
            return error;
    kernel<<<shape.grid, shape.block, shape.dynamic_shared, shape.stream>>>(static_cast<P>(arguments)...);
    return cudaGetLastError();
}

/// op over the values of a whole warp's lanes, by a fixed tree: lane l with l ^ 16, then ^ 8, 4, 2, 1; every
/// lane gets the result. It also orders the lanes' accesses to memory, as __syncwarp. `op` has no captures.
template <class T, class Op>
__device__ inline T warp_reduce(T value, Op op) {
    for (int step = 16; step > 0; step /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, step));
    __syncwarp();
    return value;
}
}  // namespace normscope::grid

#else

#include "core/backend/grid/emulator.h"

#include <tuple>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define NORMSCOPE_KERNEL inline
#define threadIdx (::normscope::grid::this_thread().thread)
#define blockIdx (::normscope::grid::this_thread().block)
#define blockDim (::normscope::grid::this_thread().block_dim)
#define gridDim (::normscope::grid::this_thread().grid_dim)

// A place in the source: two threads at different ones are not at the same barrier.
#define NORMSCOPE_PLACE              \
    ([]() -> const void* {           \
        static const char place = 0; \
        return &place;               \
    }())
#define NORMSCOPE_SHARED(type, name, count)            \
    type(&name)[count] = *static_cast<type(*)[count]>( \
        ::normscope::grid::shared_array(NORMSCOPE_PLACE, sizeof(type) * (count)))
#define NORMSCOPE_DYNAMIC_SHARED(type, name) \
    type* name = static_cast<type*>(::normscope::grid::dynamic_shared_memory())

#define __syncthreads() ::normscope::grid::block_barrier(NORMSCOPE_PLACE)
#define __syncthreads_count(flag) ::normscope::grid::block_barrier_count(NORMSCOPE_PLACE, flag)
#define __syncwarp(...) \
    ::normscope::grid::warp_barrier(::normscope::grid::whole_warp(__VA_ARGS__), NORMSCOPE_PLACE)
#define __threadfence() ::normscope::grid::device_fence()
#define __shfl_sync(...) ::normscope::grid::shuffle(NORMSCOPE_PLACE, __VA_ARGS__)
#define __shfl_xor_sync(...) ::normscope::grid::shuffle_xor(NORMSCOPE_PLACE, __VA_ARGS__)
#define __shfl_down_sync(...) ::normscope::grid::shuffle_down(NORMSCOPE_PLACE, __VA_ARGS__)
#define __ballot_sync(...) ::normscope::grid::ballot(NORMSCOPE_PLACE, __VA_ARGS__)
#define __any_sync(mask, flag) (::normscope::grid::ballot(NORMSCOPE_PLACE, mask, flag) != 0)
#define __all_sync(mask, flag) (::normscope::grid::ballot(NORMSCOPE_PLACE, mask, flag) == (mask))
#define __ffs(bits) __builtin_ffs(bits)

// Of the emulator itself, in a source whose accesses are checked.
#define NORMSCOPE_UNCHECKED __attribute__((no_sanitize("thread")))

namespace normscope::grid {

struct Stream {};
struct Shape {
    Dim3 grid, block;
    std::size_t dynamic_shared = 0;
    Stream stream = {};
};

/// Runs the kernel now; GridFault as launch_on_host.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), const Shape& shape, A... arguments) {
    struct Call {
        void (*kernel)(P...);
        std::tuple<P...> parameters;
    } call{kernel, {static_cast<P>(arguments)...}};
    const Body body{[](const void* at) {
                        const auto& made = *static_cast<const Call*>(at);
                        std::apply(made.kernel, made.parameters);
                    },
                    &call, sizeof call};
    launch_on_host(name, shape.grid, shape.block, shape.dynamic_shared, body);
}

inline std::uint32_t whole_warp(std::uint32_t mask = 0xffffffffu) {
    return mask;
}

/// source(lane): the lane whose value `lane` receives.
template <class T, class Source>
T shuffle_from(const void* place, std::uint32_t mask, T value, Source source) {
    T result;
    const unsigned from = source(this_thread().lane());
    struct LaneInput {
        T value;
        std::uint32_t from;
    } lane_input{value, from};
    warp_collect(mask, place, &lane_input, sizeof lane_input, &result, sizeof result,
                 [](std::uint32_t lanes, const unsigned char(*in)[kWarpBytes],
                    unsigned char(*out)[kWarpBytes]) NORMSCOPE_UNCHECKED {
                     for (std::uint32_t lane = 0; lane < kWarp; ++lane) {
                         if (!(lanes >> lane & 1)) continue;
                         LaneInput mine, theirs;
                         std::memcpy(&mine, in[lane], sizeof mine);
                         // From a lane that is not in the mask CUDA leaves the value undefined: here it is
                         // NaN bytes.
                         if (mine.from >= kWarp || !(lanes >> mine.from & 1)) {
                             std::memset(out[lane], 0xff, sizeof(T));
                             continue;
                         }
                         std::memcpy(&theirs, in[mine.from], sizeof theirs);
                         std::memcpy(out[lane], &theirs.value, sizeof(T));
                     }
                 });
    return result;
}
template <class T>
T shuffle(const void* place, std::uint32_t mask, T value, int lane, int width = kWarp) {
    return shuffle_from(place, mask, value, [=](unsigned self) {
        return self / static_cast<unsigned>(width) * static_cast<unsigned>(width) +
               static_cast<unsigned>(lane) % static_cast<unsigned>(width);
    });
}
template <class T>
T shuffle_xor(const void* place, std::uint32_t mask, T value, int with) {
    return shuffle_from(place, mask, value,
                        [=](unsigned self) { return self ^ static_cast<unsigned>(with); });
}
template <class T>
T shuffle_down(const void* place, std::uint32_t mask, T value, unsigned by) {
    return shuffle_from(place, mask, value,
                        [=](unsigned self) { return self + by < kWarp ? self + by : self; });
}
inline std::uint32_t ballot(const void* place, std::uint32_t mask, bool flag) {
    std::uint32_t result = 0;
    const std::uint32_t mine = flag ? 1 : 0;
    warp_collect(mask, place, &mine, sizeof mine, &result, sizeof result,
                 [](std::uint32_t lanes, const unsigned char(*in)[kWarpBytes],
                    unsigned char(*out)[kWarpBytes]) NORMSCOPE_UNCHECKED {
                     std::uint32_t all = 0;
                     for (std::uint32_t lane = 0; lane < kWarp; ++lane)
                         if (std::uint32_t one = 0; lanes >> lane & 1) {
                             std::memcpy(&one, in[lane], sizeof one);
                             all |= one << lane;
                         }
                     for (std::uint32_t lane = 0; lane < kWarp; ++lane)
                         std::memcpy(out[lane], &all, sizeof all);
                 });
    return result;
}

/// As with nvcc, in one exchange instead of five shuffles.
template <class T, class Op>
T warp_reduce(T value, Op) {
    static const char place = 0;
    T result;
    warp_exchange(&place, &value, sizeof value, &result, sizeof result,
                  [](std::uint32_t, const unsigned char(*in)[kWarpBytes], unsigned char(*out)[kWarpBytes])
                      NORMSCOPE_UNCHECKED {
                          T lanes[kWarp], next[kWarp];
                          for (int lane = 0; lane < kWarp; ++lane)
                              std::memcpy(&lanes[lane], in[lane], sizeof(T));
                          for (int step = kWarp / 2; step > 0; step /= 2) {
                              for (int lane = 0; lane < kWarp; ++lane)
                                  next[lane] = Op{}(lanes[lane], lanes[lane ^ step]);
                              std::memcpy(lanes, next, sizeof lanes);
                          }
                          for (int lane = 0; lane < kWarp; ++lane)
                              std::memcpy(out[lane], &lanes[lane], sizeof(T));
                      });
    return result;
}

/// Launches run on one thread of the host, so the operation itself is an ordinary one.
template <class T, class F>
NORMSCOPE_UNCHECKED T atomic(T* address, F change) {
    atomic_access(address, sizeof(T));
    T old, made;
    std::memcpy(&old, address, sizeof old);
    made = change(old);
    std::memcpy(address, &made, sizeof made);
    return old;
}

}  // namespace normscope::grid

template <class T>
T atomicAdd(T* address, T value) {
    return normscope::grid::atomic(address, [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMax(T* address, T value) {
    return normscope::grid::atomic(address, [=](T old) { return old < value ? value : old; });
}
template <class T>
T atomicExch(T* address, T value) {
    return normscope::grid::atomic(address, [=](T) { return value; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
    return normscope::grid::atomic(address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}

#endif
