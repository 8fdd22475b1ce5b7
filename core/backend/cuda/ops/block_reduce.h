// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: reductions over a block.
#pragma once

#include "core/backend/cuda/ops/each.h"

#include <cstdint>

namespace normscope::cuda {

inline constexpr unsigned kWarps = kThreads / 32;

struct Sum {
    using value = double;
    static NORMSCOPE_SHARED_CODE double none() { return 0; }
    NORMSCOPE_SHARED_CODE double operator()(double a, double b) const { return a + b; }
};
struct Least {
    using value = long long;
    static NORMSCOPE_SHARED_CODE long long none() { return INT64_MAX; }
    NORMSCOPE_SHARED_CODE long long operator()(long long a, long long b) const { return b < a ? b : a; }
};

/// Over the values of a block of kThreads threads; the result is thread 0's. Between two calls in a kernel
/// there is a barrier.
template <class Op>
__device__ inline typename Op::value block_reduce(typename Op::value v) {
    NORMSCOPE_SHARED(typename Op::value, warps, kWarps);
    v = grid::warp_reduce(v, Op{});
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x != 0) return v;
    v = warps[0];
    for (unsigned w = 1; w < kWarps; ++w) v = Op{}(v, warps[w]);
    return v;
}

/// Σ x[i·stride] over i < count by a block, in float64: the result is thread 0's.
template <class T>
__device__ inline double block_sum(int count, const T* x, std::size_t stride = 1) {
    double sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kThreads))
        sum += static_cast<double>(x[static_cast<std::size_t>(i) * stride]);
    return block_reduce<Sum>(sum);
}

}  // namespace normscope::cuda
