// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/grid/grid.h"
#include "core/backend/shared/low_precision.h"

#include <cmath>

namespace normscope::cuda {

/// Products of a warp's 16 rows with tiles in shared memory, in float32. A lane has four rows; eight lanes
/// share a row. All 32 lanes call these functions together.
struct FloatRows {
    using Entry = float;
    static constexpr Rounding kRounding = Rounding::None;
    static constexpr int kRows = 16, kRowsOfLane = 4, kLanesOfRow = 8;
    /// Entries between two rows in shared memory: eight lanes that read 16 bytes each of eight rows meet all
    /// 32 banks.
    static constexpr int kExtra = 4;

    /// The lane's part of [16, N] numbers.
    template <int N>
    struct Block {
        static constexpr int kColumns = N / kLanesOfRow;
        float at[kRowsOfLane][kColumns] = {};
    };
    __device__ static int lane() { return static_cast<int>(threadIdx.x % 32u); }
    __device__ static int row(int r) { return lane() / 8 + 4 * r; }
    /// Of entry c of scores, and of the wider blocks that mix() makes.
    __device__ static int column(int c) { return lane() % 8 + 8 * c; }
    __device__ static int mixed_column(int c) { return 4 * (lane() % 8) + 32 * (c / 4) + c % 4; }
    __device__ static float rounded_result(float x) { return x; }
    __device__ static Entry entry(float x) { return x; }
    template <int N>
    __device__ static void round(Block<N>&) {}
    __device__ static float power(float score, float base2, float largest) {
        return std::exp2((score - largest) * base2);
    }

    struct alignas(16) Quad {
        float x, y, z, w;
    };
    __device__ static Quad quad(const float* at) { return *reinterpret_cast<const Quad*>(at); }

    /// block = mine·otherᵀ: mine [16, D], other [N, D], rows `ld` apart.
    template <int D, int N>
    __device__ static void scores(Block<N>& block, const float* mine, const float* other, int ld) {
        NORMSCOPE_UNROLL
        for (int r = 0; r < kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Block<N>::kColumns; ++c) block.at[r][c] = 0;
        }
        NORMSCOPE_UNROLL_BY(1)
        for (int k = 0; k < D; k += 4) {
            Quad a[kRowsOfLane];
            NORMSCOPE_UNROLL
            for (int r = 0; r < kRowsOfLane; ++r) a[r] = quad(mine + row(r) * ld + k);
            NORMSCOPE_UNROLL
            for (int c = 0; c < Block<N>::kColumns; ++c) {
                const Quad b = quad(other + column(c) * ld + k);
                NORMSCOPE_UNROLL
                for (int r = 0; r < kRowsOfLane; ++r) {
                    float& sum = block.at[r][c];
                    sum += a[r].x * b.x;
                    sum += a[r].y * b.y;
                    sum += a[r].z * b.z;
                    sum += a[r].w * b.w;
                }
            }
        }
    }

    /// Numbers of shared memory that mix() needs for each warp.
    template <int N>
    static constexpr int kScratch = kRows*(N + kExtra);

    /// sum += weights·other: weights [16, N], other [N, M], rows `ld` apart.
    template <int N, int M>
    __device__ static void mix(Block<M>& sum, const Block<N>& weights, const float* other, int ld,
                               float* scratch) {
        constexpr int wide = N + kExtra;
        NORMSCOPE_UNROLL
        for (int r = 0; r < kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Block<N>::kColumns; ++c)
                scratch[row(r) * wide + column(c)] = weights.at[r][c];
        }
        __syncwarp();
        for (int k = 0; k < N; k += 4) {
            Quad a[kRowsOfLane];
            NORMSCOPE_UNROLL
            for (int r = 0; r < kRowsOfLane; ++r) a[r] = quad(scratch + row(r) * wide + k);
            NORMSCOPE_UNROLL
            for (int step = 0; step < 4; ++step) {
                NORMSCOPE_UNROLL
                for (int c = 0; c < Block<M>::kColumns; c += 4) {
                    const Quad b = quad(other + (k + step) * ld + mixed_column(c));
                    NORMSCOPE_UNROLL
                    for (int r = 0; r < kRowsOfLane; ++r) {
                        const float w = step == 0 ? a[r].x : step == 1 ? a[r].y : step == 2 ? a[r].z : a[r].w;
                        sum.at[r][c] += w * b.x;
                        sum.at[r][c + 1] += w * b.y;
                        sum.at[r][c + 2] += w * b.z;
                        sum.at[r][c + 3] += w * b.w;
                    }
                }
            }
        }
        __syncwarp();
    }

    /// Eight or four entries of 16 bytes of a tile, from `count` numbers; zeros after them.
    static constexpr int kPiece = 4;
    __device__ static void store_piece(float* to, const float (&values)[kPiece]) {
        *reinterpret_cast<Quad*>(to) = {values[0], values[1], values[2], values[3]};
    }
};

}  // namespace normscope::cuda
