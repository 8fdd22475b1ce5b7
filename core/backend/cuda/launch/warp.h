// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/launch.h"
#include "core/backend/shared/lanes.h"

#if defined(__CUDACC__)
// Row functions are host and device code; over Warp only kernels call them.
#pragma nv_diag_suppress 20014
#endif

namespace normscope::cuda {

/// The lanes policy of the GPU (lanes.h): one warp per row, one entry per lane. All 32 lanes of the warp run
/// the row's code.
template <class T>
struct Warp {
    using scalar = T;
    using vec = T;
    static constexpr int size = 32;
    __device__ static int lane() { return static_cast<int>(threadIdx.x % 32u); }
    __device__ static T load(const T* p, Full) { return p[lane()]; }
    __device__ static T load(const T* p, Tail t) { return lane() < t.count ? p[lane()] : T(0); }
    __device__ static void store(T* p, T v, Full) { p[lane()] = v; }
    __device__ static void store(T* p, T v, Tail t) {
        if (lane() < t.count) p[lane()] = v;
    }
    __device__ static T all(T v) { return v; }
    __device__ static T keep(T v, Full, T = 0) { return v; }
    __device__ static T keep(T v, Tail t, T beyond = 0) { return lane() < t.count ? v : beyond; }
    __device__ static T larger(T a, T b) { return a > b ? a : b; }
    __device__ static bool owns(int i) { return i % 32 == lane(); }
    __device__ static T sum(T v) {
        return grid::warp_reduce(v, [](T a, T b) { return a + b; });
    }
    __device__ static T max(T v) {
        return grid::warp_reduce(v, [](T a, T b) { return a > b ? a : b; });
    }
    __device__ static T exp(T v) { return std::exp(v); }
    __device__ static T log(T v) { return std::log(v); }
    template <class F>
    __device__ static T map(T v, F f) {
        return f(v);
    }
};

/// Kernels with one warp per row.
inline constexpr unsigned kWarpsPerBlock = 4, kRowThreads = 32 * kWarpsPerBlock;
inline grid::Shape one_warp_each(std::size_t rows) {
    return {{blocks_for(rows, kWarpsPerBlock)}, {kRowThreads}};
}
__device__ inline int row_of_warp() {
    return static_cast<int>(blockIdx.x * kWarpsPerBlock + threadIdx.x / 32);
}

}  // namespace normscope::cuda
