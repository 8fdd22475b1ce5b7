// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: kernels over rows in 16 bits.
#pragma once

#include "core/backend/cuda/compact/eights.h"
#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/norm.h"
#include "core/backend/pass_ops.h"
#include "core/backend/row/norm.h"

#include <cmath>

namespace normscope::cuda::compact {

/// A row in 16 bits as the lanes of ShortWarp load or store it; Bits: std::uint16_t, const to be loaded.
template <MmaFormat F, class Bits = const std::uint16_t>
struct ShortRow {
    Bits* at;
    __device__ ShortRow operator+(std::ptrdiff_t i) const { return {at + i}; }
};
template <MmaFormat F>
using ShortResult = ShortRow<F, std::uint16_t>;
template <MmaFormat F>
struct ShortWarp : Warp<float> {
    using Warp<float>::load;
    using Warp<float>::store;
    using Warp<float>::entry;
    using Warp<float>::put;
    using Warp<float>::bytes;
    template <class Bits>
    static constexpr double bytes(ShortRow<F, Bits>) {
        return sizeof(Bits);
    }
    __device__ static float put(ShortResult<F> row, float v, Rounding) {
        *row.at = static_cast<std::uint16_t>(grid::packed_pair<F>(v, 0));
        return wide<F>(*row.at);
    }
    __device__ static float entry(ShortRow<F> row) { return wide<F>(*row.at); }
    __device__ static float load(ShortRow<F> row, Full) { return wide<F>(row.at[Warp<float>::lane()]); }
    __device__ static float load(ShortRow<F> row, Tail t) {
        return Warp<float>::lane() < t.count ? wide<F>(row.at[Warp<float>::lane()]) : 0.0f;
    }
    __device__ static void store(ShortResult<F> row, float v, Full) {
        row.at[Warp<float>::lane()] = static_cast<std::uint16_t>(grid::packed_pair<F>(v, 0));
    }
    __device__ static void store(ShortResult<F> row, float v, Tail t) {
        if (Warp<float>::lane() < t.count) store(row, v, Full{});
    }
};

/// One warp per row of d entries.
template <MmaFormat F, bool Centred>
NORMSCOPE_KERNEL void norm_operand_kernel(int rows, int d, const float* x, const float* eps,
                                          const float* gamma, const float* beta, const float* scale,
                                          NormStatistics<float> statistics, ShortResult<F> y) {
    const int i = row_of_warp();
    if (i >= rows) return;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(i) * d;
    norm_of_row<ShortWarp<F>, Centred>(i, x + first, d, eps, gamma, beta, scale, statistics, y + first);
}

/// Rotary positions (row/rope.h), one warp per row and head; `heads` neighbouring heads of dh entries
/// from the row's first entry on. Row r is at token r mod n.
template <MmaFormat F>
NORMSCOPE_KERNEL void rotate_short_kernel(int count, int heads, int dh, std::size_t stride, int n,
                                          const float* angles, bool inverse, std::uint16_t* x) {
    const int i = row_of_warp();
    if (i >= count) return;
    const int row = i / heads, half = dh / 2;
    const float* const cosines = angles + static_cast<std::size_t>(row % n) * static_cast<std::size_t>(dh);
    std::uint16_t* const at = x + static_cast<std::size_t>(row) * stride +
                              static_cast<std::size_t>(i % heads) * static_cast<std::size_t>(dh);
    const float sign = inverse ? -1.0f : 1.0f;
    for (int k = Warp<float>::lane(); k < half; k += 32) {
        const float a = wide<F>(at[k]), b = wide<F>(at[half + k]);
        const float c = cosines[k], s = cosines[half + k] * sign;
        at[k] = static_cast<std::uint16_t>(grid::packed_pair<F>(a * c - b * s, 0));
        at[half + k] = static_cast<std::uint16_t>(grid::packed_pair<F>(b * c + a * s, 0));
    }
}

/// row::cross_entropy of each row, by the lanes of L, with the gradient in the logits' place; columns
/// from V to `columns` get 0.
template <MmaFormat F, class L>
NORMSCOPE_KERNEL void classify_kernel(int rows, int V, int columns, std::uint16_t* logits,
                                      const std::int32_t* targets, const float* scale, float z,
                                      float* losses) {
    const int r = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / static_cast<unsigned>(L::size));
    if (r >= rows) return;
    std::uint16_t* const row = logits + static_cast<std::size_t>(r) * static_cast<std::size_t>(columns);
    const int target = targets[r], groups = columns / kEight;
    // body(first entry, its eight)
    const auto each_eight = [&](const auto& body) {
        for (int g = L::lane(); g < groups; g += L::size) body(g * kEight);
    };
    if (target < 0) {
        each_eight([&](int i) { store<F>(row + i, Eight{}); });
        if (L::lane() == 0) losses[r] = 0;
        return;
    }
    const float first = wide<F>(row[0]), chosen = wide<F>(row[target]);
    float most = first;
    each_eight([&](int i) {
        const Eight x = load<F>(row + i);
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) most = L::larger(i + k < V ? x.at[k] : first, most);
    });
    const float largest = L::max(most);
    float sum = 0;
    each_eight([&](int i) {
        const Eight x = load<F>(row + i);
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) sum += i + k < V ? L::exp(x.at[k] - largest) : 0.0f;
    });
    const float total = L::sum(sum), log_total = std::log(total), lse = log_total + largest;
    const float by = value_of(scale), factor = by / total * (1.0f + 2 * z * lse);
    each_eight([&](int i) {
        const Eight x = load<F>(row + i);
        Eight gradient;
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) {
            const float p = i + k < V ? L::exp(x.at[k] - largest) * factor : 0.0f;
            gradient.at[k] = i + k == target ? p - by : p;
        }
        store<F>(row + i, gradient);
    });
    if (L::lane() != 0) return;
    losses[r] = std::isfinite(largest) ? log_total + (largest - chosen) : largest - largest;
}

}  // namespace normscope::cuda::compact
