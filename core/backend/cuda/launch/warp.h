// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/launch.h"
#include "core/backend/shared/lanes.h"
#include "core/backend/shared/low_precision.h"

#include <type_traits>

#if defined(__CUDACC__)
// Row functions are host and device code; over Warp only kernels call them.
#pragma nv_diag_suppress 20014
#endif

namespace normscope::cuda {

/// The lanes policy of the GPU (lanes.h): `Size` neighbouring threads per row, one entry per lane. Size is
/// 32, a warp, or that of the whole block. All of them run the row's code.
template <class T, int Size>
struct ThreadLanes {
    using scalar = T;
    using vec = T;
    static constexpr int size = Size;
    __device__ static int lane() { return static_cast<int>(threadIdx.x % static_cast<unsigned>(Size)); }
    __device__ static T load(const T* p, Full) { return p[lane()]; }
    __device__ static T load(const T* p, Tail t) { return lane() < t.count ? p[lane()] : T(0); }
    __device__ static T entry(const T* p) { return *p; }
    /// Stores an entry; returns it as a sum reads it.
    __device__ static T put(T* p, T v, Rounding to) {
        *p = v;
        if constexpr (std::is_same_v<T, float>) return rounded(to, v);
        return v;
    }
    static constexpr double bytes(const T*) { return sizeof(T); }
    __device__ static void store(T* p, T v, Full) { p[lane()] = v; }
    __device__ static void store(T* p, T v, Tail t) {
        if (lane() < t.count) p[lane()] = v;
    }
    __device__ static T all(T v) { return v; }
    __device__ static T keep(T v, Full, T = 0) { return v; }
    __device__ static T keep(T v, Tail t, T beyond = 0) { return lane() < t.count ? v : beyond; }
    __device__ static T larger(T a, T b) { return a > b ? a : b; }
    __device__ static T product(T a, T b) { return a * b; }
    __device__ static bool owns(int i) { return i % Size == lane(); }
    __device__ static T sum(T v) {
        return reduce(v, [](T a, T b) { return a + b; });
    }
    __device__ static T max(T v) {
        return reduce(v, [](T a, T b) { return a > b ? a : b; });
    }
    __device__ static T exp(T v) { return std::exp(v); }
    __device__ static T log(T v) { return std::log(v); }
    template <class F>
    __device__ static T map(T v, F f) {
        return f(v);
    }

  private:
    /// op over all lanes, in a fixed order; every lane gets the result.
    template <class Op>
    __device__ static T reduce(T v, Op op) {
        v = grid::warp_reduce(v, op);
        if constexpr (Size > 32) {
            NORMSCOPE_SHARED(T, warps, Size / 32);
            if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
            __syncthreads();
            v = warps[0];
            for (int w = 1; w < Size / 32; ++w) v = op(v, warps[w]);
            __syncthreads();  // before the next call writes
        }
        return v;
    }
};
template <class T>
using Warp = ThreadLanes<T, 32>;
/// For rows of thousands of entries.
inline constexpr int kBlockLanes = 256;
template <class T>
using Block = ThreadLanes<T, kBlockLanes>;

/// Kernels with one warp per row.
inline constexpr unsigned kWarpsPerBlock = 4, kRowThreads = 32 * kWarpsPerBlock;
inline grid::Shape one_warp_each(std::size_t rows) {
    return {{blocks_for(rows, kWarpsPerBlock)}, {kRowThreads}};
}
__device__ inline int row_of_warp() {
    return static_cast<int>(blockIdx.x * kWarpsPerBlock + threadIdx.x / 32);
}

}  // namespace normscope::cuda
