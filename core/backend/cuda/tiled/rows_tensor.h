// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/launch/short_format.h"
#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/grid/tensor_core.h"
#include "core/backend/shared/low_precision.h"

#include <cmath>

namespace normscope::cuda {

/// As FloatRows on tensor cores: operands in the format, sums in float32. A lane has two rows, four lanes
/// share a row: the fragments of mma.m16n8k16 (tensor_core.h).
template <grid::MmaFormat F>
struct TensorRows {
    using Entry = std::uint16_t;
    static constexpr Rounding kRounding = F == grid::MmaFormat::Bf16 ? Rounding::Bf16 : Rounding::Fp16;
    static constexpr int kRows = 16, kRowsOfLane = 2, kLanesOfRow = 4;
    /// ldmatrix reads 16 bytes of eight rows at a time: 16 bytes more than a multiple of 128 meet all banks.
    static constexpr int kExtra = 8;

    /// Entry c of row r: column 8·(c / 2) + 2·(lane % 4) + c % 2.
    template <int N>
    struct Block {
        static constexpr int kColumns = N / kLanesOfRow;
        float at[kRowsOfLane][kColumns] = {};
    };
    __device__ static int lane() { return static_cast<int>(threadIdx.x % 32u); }
    __device__ static int row(int r) { return lane() / 4 + 8 * r; }
    __device__ static int column(int c) { return 2 * (lane() % 4) + 8 * (c / 2) + c % 2; }
    __device__ static int mixed_column(int c) { return column(c); }
    /// A product's result in the format.
    __device__ static float rounded_result(float x) { return rounded(kRounding, x); }
    /// The same of all entries, two by one instruction.
    template <int N>
    __device__ static void round(Block<N>& block) {
        NORMSCOPE_UNROLL
        for (int r = 0; r < kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Block<N>::kColumns; c += 2) {
                const std::uint32_t pair = grid::packed_pair<F>(block.at[r][c], block.at[r][c + 1]);
                block.at[r][c] = from_16_bits(kRounding, static_cast<std::uint16_t>(pair));
                block.at[r][c + 1] = from_16_bits(kRounding, static_cast<std::uint16_t>(pair >> 16));
            }
        }
    }
    /// 2^(base2·(score − largest)); a probability is rounded before anything else reads it, so that the
    /// instruction's error of two units of float32 does not show.
    __device__ static float power(float score, float base2, float largest) {
        const float exponent = (score - largest) * base2;  // of the largest score 0
#if defined(__CUDA_ARCH__)
        float power;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
        return power;
#else
        return std::exp2(exponent);
#endif
    }
    __device__ static Entry entry(float x) {
        return static_cast<Entry>(grid::packed_pair<F>(x, x));
    }

    template <int N>
    __device__ static void multiply(Block<N>& sum, int tile, const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
        const int c = 2 * tile;
        float part[4] = {sum.at[0][c], sum.at[0][c + 1], sum.at[1][c], sum.at[1][c + 1]};
        const std::uint32_t b[2] = {b0, b1};
        grid::mma_m16n8k16<F>(part, a, b);
        sum.at[0][c] = part[0];
        sum.at[0][c + 1] = part[1];
        sum.at[1][c] = part[2];
        sum.at[1][c + 1] = part[3];
    }

    template <int D, int N>
    __device__ static void scores(Block<N>& block, const Entry* mine, const Entry* other, int ld) {
        NORMSCOPE_UNROLL
        for (int r = 0; r < kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Block<N>::kColumns; ++c) block.at[r][c] = 0;
        }
        const Entry* const at = mine + lane() % 16 * ld + lane() / 16 * 8;
        const Entry* const with = other + (lane() % 8 + lane() / 16 * 8) * ld + lane() / 8 % 2 * 8;
        NORMSCOPE_UNROLL
        for (int k = 0; k < D; k += 16) {
            std::uint32_t a[4];
            grid::ldmatrix_x4<false>(a, at + k);
            NORMSCOPE_UNROLL
            for (int pair = 0; pair < N / 16; ++pair) {
                std::uint32_t b[4];
                grid::ldmatrix_x4<false>(b, with + pair * 16 * ld + k);
                multiply(block, 2 * pair, a, b[0], b[1]);
                multiply(block, 2 * pair + 1, a, b[2], b[3]);
            }
        }
    }

    template <int N>
    static constexpr int kScratch = 0;

    /// The accumulators of two tiles are the left operand of the next product.
    template <int N, int M>
    __device__ static void mix(Block<M>& sum, const Block<N>& weights, const Entry* other, int ld, float*) {
        const Entry* const with = other + lane() % 16 * ld + lane() / 16 * 8;
        NORMSCOPE_UNROLL
        for (int step = 0; step < N / 16; ++step) {
            const auto of = [&](int r, int c) {
                return grid::packed_pair<F>(weights.at[r][4 * step + c], weights.at[r][4 * step + c + 1]);
            };
            const std::uint32_t a[4] = {of(0, 0), of(1, 0), of(0, 2), of(1, 2)};
            NORMSCOPE_UNROLL
            for (int pair = 0; pair < M / 16; ++pair) {
                std::uint32_t b[4];
                grid::ldmatrix_x4<true>(b, with + step * 16 * ld + pair * 16);
                multiply(sum, 2 * pair, a, b[0], b[1]);
                multiply(sum, 2 * pair + 1, a, b[2], b[3]);
            }
        }
    }

    static constexpr int kPiece = 8;
    struct alignas(16) Pairs {
        std::uint32_t pair[4];
    };
    __device__ static void store_piece(Entry* to, const float (&values)[kPiece]) {
        Pairs pairs;
        NORMSCOPE_UNROLL
        for (int i = 0; i < 4; ++i) pairs.pair[i] = grid::packed_pair<F>(values[2 * i], values[2 * i + 1]);
        *reinterpret_cast<Pairs*>(to) = pairs;
    }
};

}  // namespace normscope::cuda
