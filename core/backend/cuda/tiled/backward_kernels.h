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
    Rows::round(p);
    Rows::template scores<D>(dp, dmine, values, Tile::ld);
    Rows::round(dp);
    constexpr int columns = Rows::template Block<Tile::other>::kColumns;
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        NORMSCOPE_UNROLL
        for (int c = 0; c < columns; ++c)
            p.at[r][c] = probability<Rows>(p.at[r][c], base2, largest[r], inverse[r]);
    }
    if (key + Tile::other <= (s.causal ? query + 1 : s.n)) return;
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int length = s.causal ? query + Rows::row(r) + 1 : s.n;
        NORMSCOPE_UNROLL
        for (int c = 0; c < columns; ++c) {
            if (key + Rows::column(c) < length) continue;
            p.at[r][c] = 0;
            dp.at[r][c] = 0;
        }
    }
}

/// dQ = dS·K with dS = scale·P∘(dP − Σ P∘dP), and dots = Σ P∘dP of each row [items, heads, n]. Keys pass
/// twice, first for the sum. FlashAttention-2 takes it as Σ dO∘O, which needs no pass, but is not the sum of
/// these roundings: where a row attends to one key, dP and the sum must cancel. One block for each tile of
/// queries, the longest rows first.
template <class Rows, int D>
NORMSCOPE_KERNEL void query_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                                            Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                                            Packed<typename Rows::Entry> dout, RowSoftmax softmax,
                                            float* dots, HeadRows dq) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<2, 2 * Tile::stages> tiles{shared};
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
    const auto fetch = [&](int to, int key) {
        begin_tile<Tile, Tile::other>(tiles.passing(to), k, sequence, kv, key, s.n);
        begin_tile<Tile, Tile::other>(tiles.passing(to + 1), v, sequence, kv, key, s.n);
    };
    const auto scores = [&](Scores& p, Scores& dp, int from, int key) {
        gradient_scores<Rows, D>(p, dp, tiles.mine(0) + warp_row * Tile::ld,
                                 tiles.mine(1) + warp_row * Tile::ld, tiles.passing(from),
                                 tiles.passing(from + 1), key, query, s, base2, largest, inverse);
    };
    over_tiles<Tile>(0, end, Tile::other, fetch, [&](int from, int key) {
        Scores p, dp;
        scores(p, dp, from, key);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) dot[r] += p.at[r][c] * dp.at[r][c];
        }
    });
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) dot[r] = over_row<Rows>(dot[r], Plus{});
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int token = query + Rows::row(r);
        if (token < s.n && Rows::lane() % Rows::kLanesOfRow == 0)
            *row_number(dots, at.item * s.heads + at.head, s.n, token) = dot[r];
    }
    typename Rows::template Block<D> gradient;
    over_tiles<Tile>(0, end, Tile::other, fetch, [&](int from, int key) {
        Scores p, ds;
        scores(p, ds, from, key);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c)
                ds.at[r][c] = p.at[r][c] == 0 ? 0.0f : p.at[r][c] * (ds.at[r][c] - dot[r]) * factor;
        }
        Rows::mix(gradient, ds, tiles.passing(from), Tile::ld, tiles.scratch_of_warp());
    });
    write_rows<Rows, D>(gradient, query, 0, s.n, 0, dq, at.item, at.head);
    if (dq.sums)
        write_sums<Tile, D>(gradient, query, s.n, 0, dq, at.item, at.head, first / Tile::own,
                            reinterpret_cast<float*>(shared));
}

/// dV = Σ PᵀdO and dK = Σ dSᵀQ over the heads of a group in order, with queries passing in order. One block
/// for each tile of keys and each `columns` columns; it owns what it writes.
template <class Rows, int D>
NORMSCOPE_KERNEL void key_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                                          Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                                          Packed<typename Rows::Entry> dout, RowSoftmax softmax,
                                          const float* dots, HeadRows dk, HeadRows dv) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    using Sums = typename Rows::template Block<Tile::columns>;
    constexpr int parts = D / Tile::columns;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<2, 2 * Tile::stages> tiles{shared};
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
    for (int h = kv * s.group; h < (kv + 1) * s.group; ++h) {
        const auto fetch = [&](int to, int query) {
            begin_tile<Tile, Tile::other>(tiles.passing(to), q, sequence, h, query, s.n);
            begin_tile<Tile, Tile::other>(tiles.passing(to + 1), dout, at.item, h, query, s.n);
            float* const of_tile = rows + to / 2 * 3 * Tile::other;
            for (int i = static_cast<int>(threadIdx.x); i < Tile::other; i += Tile::threads) {
                const int token = query + i < s.n ? query + i : s.n - 1;  // those beyond are masked
                const float* const row = softmax.at(sequence * s.heads + h, s.n, token);
                of_tile[i] = row[0];
                of_tile[Tile::other + i] = row[1];
                of_tile[2 * Tile::other + i] = *row_number(dots, at.item * s.heads + h, s.n, token);
            }
        };
        over_tiles<Tile>(s.causal ? first : 0, s.n, Tile::other, fetch, [&](int from, int query) {
            const float* const of_tile = rows + from / 2 * 3 * Tile::other;
            Scores p, ds;
            Rows::template scores<D>(p, tiles.mine(0) + warp_row * Tile::ld, tiles.passing(from), Tile::ld);
            Rows::round(p);
            Rows::template scores<D>(ds, tiles.mine(1) + warp_row * Tile::ld, tiles.passing(from + 1),
                                     Tile::ld);
            Rows::round(ds);
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) {
                const int i = Rows::column(c);
                const float largest = of_tile[i], inverse = of_tile[Tile::other + i],
                            dot = of_tile[2 * Tile::other + i];
                NORMSCOPE_UNROLL
                for (int r = 0; r < Rows::kRowsOfLane; ++r) {
                    p.at[r][c] = probability<Rows>(p.at[r][c], base2, largest, inverse);
                    ds.at[r][c] = p.at[r][c] * (ds.at[r][c] - dot) * factor;
                }
            }
            if (query + Tile::other > s.n || (s.causal && key + Rows::kRows > query + 1)) {
                NORMSCOPE_UNROLL
                for (int c = 0; c < Scores::kColumns; ++c) {
                    const int token = query + Rows::column(c);
                    const int keys_of_row = token >= s.n ? 0 : s.causal ? token + 1 : s.n;
                    NORMSCOPE_UNROLL
                    for (int r = 0; r < Rows::kRowsOfLane; ++r)
                        if (key + Rows::row(r) >= keys_of_row) p.at[r][c] = ds.at[r][c] = 0;
                }
            }
            Rows::mix(values, p, tiles.passing(from + 1) + first_column, Tile::ld, tiles.scratch_of_warp());
            Rows::mix(keys, ds, tiles.passing(from) + first_column, Tile::ld, tiles.scratch_of_warp());
        });
    }
    write_rows<Rows, Tile::columns>(values, key, 0, s.n, first_column, dv, at.item, kv);
    write_rows<Rows, Tile::columns>(keys, key, 0, s.n, first_column, dk, at.item, kv);
    if (!dk.sums) return;
    float* const free = reinterpret_cast<float*>(shared);
    write_sums<Tile, Tile::columns>(values, key, s.n, first_column, dv, at.item, kv, at.tile, free);
    write_sums<Tile, Tile::columns>(keys, key, s.n, first_column, dk, at.item, kv, at.tile, free);
}

}  // namespace normscope::cuda::tiled
