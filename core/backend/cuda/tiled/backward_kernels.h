// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/tiled/tiles.h"

namespace normscope::cuda::tiled {

/// P and dP = dO·Vᵀ of a warp's rows of queries with a tile of keys; zero where masked.
template <class Rows, int D>
__device__ inline void gradient_scores(typename Rows::template Block<Tiling<Rows, D>::other>& p,
                                       typename Rows::template Block<Tiling<Rows, D>::other>& dp,
                                       const typename Rows::Entry* mine, const typename Rows::Entry* dmine,
                                       const typename Rows::Entry* keys, const typename Rows::Entry* values,
                                       int key, int query, const Sizes& s, float base2,
                                       const float (&largest)[Rows::kRowsOfLane],
                                       const float (&inverse)[Rows::kRowsOfLane]) {
    using Tile = Tiling<Rows, D>;
    Rows::template scores<D>(p, mine, keys, Tile::ld);
    Rows::template scores<D>(dp, dmine, values, Tile::ld);
    const bool whole = key + Tile::other <= (s.causal ? query + 1 : s.n);
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int length = s.causal ? query + Rows::row(r) + 1 : s.n;
        NORMSCOPE_UNROLL
        for (int c = 0; c < Rows::template Block<Tile::other>::kColumns; ++c) {
            const bool there = whole || key + Rows::column(c) < length;
            const float made = probability(Rows::rounded_result(p.at[r][c]), base2, largest[r], inverse[r]);
            p.at[r][c] = there ? made : 0.0f;
            dp.at[r][c] = there ? Rows::rounded_result(dp.at[r][c]) : 0.0f;
        }
    }
}

/// dQ = dS·K with dS = scale·P∘(dP − Σ P∘dP), and dots = Σ P∘dP of each row [items, heads, n]. Keys pass
/// twice, first for the sum. FlashAttention-2 takes it as Σ dO∘O, which needs no pass, but is not the sum of
/// these roundings: where a row attends to one key, dP and the sum must cancel. One block for each tile of
/// queries, the longest rows first.
template <class Rows, int D>
__global__ void __launch_bounds__((Tiling<Rows, D>::threads), (Tiling<Rows, D>::blocks))
    query_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                          Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                          Packed<typename Rows::Entry> dout, RowSoftmax softmax, float* dots, HeadRows dq) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<2, 2> tiles{shared};
    const Place at = place_of_block(s.items, s.heads);
    const int first = s.padded - (at.tile + 1) * Tile::own, kv = at.head / s.group,
              sequence = at.item % s.sequences;
    if (first >= s.n) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, query = first + warp_row;
    const int end = s.causal && first + Tile::own < s.n ? first + Tile::own : s.n;
    const float factor = *scale, base2 = factor * kLog2E;

    begin_tile<Tile, Tile::own>(tiles.mine(0), q, sequence, at.head, first, s.n);
    begin_tile<Tile, Tile::own>(tiles.mine(1), dout, at.item, at.head, first, s.n);
    float largest[Rows::kRowsOfLane], inverse[Rows::kRowsOfLane], dot[Rows::kRowsOfLane];
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int token = query + Rows::row(r);
        const float* const row = token < s.n ? softmax.at(sequence * s.heads + at.head, s.n, token) : nullptr;
        largest[r] = row ? row[0] : 0;
        inverse[r] = row ? row[1] : 0;
        dot[r] = 0;
    }
    const auto scores = [&](Scores& p, Scores& dp, int key) {
        begin_tile<Tile, Tile::other>(tiles.passing(0), k, sequence, kv, key, s.n);
        begin_tile<Tile, Tile::other>(tiles.passing(1), v, sequence, kv, key, s.n);
        finish_tiles();
        __syncthreads();
        gradient_scores<Rows, D>(p, dp, tiles.mine(0) + warp_row * Tile::ld,
                                 tiles.mine(1) + warp_row * Tile::ld, tiles.passing(0), tiles.passing(1), key,
                                 query, s, base2, largest, inverse);
    };
    for (int key = 0; key < end; key += Tile::other) {
        Scores p, dp;
        scores(p, dp, key);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) dot[r] += p.at[r][c] * dp.at[r][c];
        }
        __syncthreads();
    }
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        dot[r] = over_row<Rows>(dot[r], Plus{});
        const int token = query + Rows::row(r);
        if (token < s.n && Rows::lane() % Rows::kLanesOfRow == 0)
            *row_number(dots, at.item * s.heads + at.head, s.n, token) = dot[r];
    }
    typename Rows::template Block<D> gradient;
    for (int key = 0; key < end; key += Tile::other) {
        Scores p, ds;
        scores(p, ds, key);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c)
                ds.at[r][c] = p.at[r][c] == 0 ? 0.0f : p.at[r][c] * (ds.at[r][c] - dot[r]) * factor;
        }
        Rows::mix(gradient, ds, tiles.passing(0), Tile::ld, tiles.scratch_of_warp());
        __syncthreads();
    }
    write_rows<Rows, D>(gradient, query, 0, s.n, 0, dq, at.item, at.head);
}

/// dV = Σ PᵀdO and dK = Σ dSᵀQ over the heads of a group in order, with queries passing in order. One block
/// for each tile of keys and each `columns` columns; it owns what it writes.
template <class Rows, int D>
__global__ void __launch_bounds__((Tiling<Rows, D>::threads), (Tiling<Rows, D>::blocks))
    key_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                        Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                        Packed<typename Rows::Entry> dout, RowSoftmax softmax, const float* dots, HeadRows dk,
                        HeadRows dv) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    using Sums = typename Rows::template Block<Tile::columns>;
    constexpr int parts = D / Tile::columns;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<2, 2> tiles{shared};
    float* const rows = tiles.after_scratch();  // largest, inverse, dot of the passing queries
    const Place at = place_of_block(s.items, s.heads / s.group * parts);
    const int kv = at.head / parts, first_column = at.head % parts * Tile::columns,
              sequence = at.item % s.sequences, first = at.tile * Tile::own;
    if (first >= s.n) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, key = first + warp_row;
    const float factor = *scale, base2 = factor * kLog2E;

    begin_tile<Tile, Tile::own>(tiles.mine(0), k, sequence, kv, first, s.n);
    begin_tile<Tile, Tile::own>(tiles.mine(1), v, sequence, kv, first, s.n);
    Sums values, keys;
    for (int h = kv * s.group; h < (kv + 1) * s.group; ++h)
        for (int query = s.causal ? first : 0; query < s.n; query += Tile::other) {
            begin_tile<Tile, Tile::other>(tiles.passing(0), q, sequence, h, query, s.n);
            begin_tile<Tile, Tile::other>(tiles.passing(1), dout, at.item, h, query, s.n);
            for (int i = static_cast<int>(threadIdx.x); i < Tile::other && query + i < s.n;
                 i += Tile::threads) {
                const int token = query + i;
                const float* const row = softmax.at(sequence * s.heads + h, s.n, token);
                rows[i] = row[0];
                rows[Tile::other + i] = row[1];
                rows[2 * Tile::other + i] = *row_number(dots, at.item * s.heads + h, s.n, token);
            }
            finish_tiles();
            __syncthreads();
            Scores p, ds;
            Rows::template scores<D>(p, tiles.mine(0) + warp_row * Tile::ld, tiles.passing(0), Tile::ld);
            Rows::template scores<D>(ds, tiles.mine(1) + warp_row * Tile::ld, tiles.passing(1), Tile::ld);
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) {
                const int i = Rows::column(c), token = query + i;
                const bool there = token < s.n;
                const float largest = there ? rows[i] : 0.0f, inverse = there ? rows[Tile::other + i] : 0.0f,
                            dot = there ? rows[2 * Tile::other + i] : 0.0f;
                const int keys_of_row = !there ? 0 : s.causal ? token + 1 : s.n;
                NORMSCOPE_UNROLL
                for (int r = 0; r < Rows::kRowsOfLane; ++r) {
                    const bool read = key + Rows::row(r) < keys_of_row;
                    const float made = probability(Rows::rounded_result(p.at[r][c]), base2, largest, inverse);
                    const float slope = made * (Rows::rounded_result(ds.at[r][c]) - dot) * factor;
                    p.at[r][c] = read ? made : 0.0f;
                    ds.at[r][c] = read ? slope : 0.0f;
                }
            }
            Rows::mix(values, p, tiles.passing(1) + first_column, Tile::ld, tiles.scratch_of_warp());
            Rows::mix(keys, ds, tiles.passing(0) + first_column, Tile::ld, tiles.scratch_of_warp());
            __syncthreads();
        }
    write_rows<Rows, Tile::columns>(values, key, 0, s.n, first_column, dv, at.item, kv);
    write_rows<Rows, Tile::columns>(keys, key, 0, s.n, first_column, dk, at.item, kv);
}

}  // namespace normscope::cuda::tiled
