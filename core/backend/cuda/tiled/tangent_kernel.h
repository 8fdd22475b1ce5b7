// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/tiled/tiles.h"

namespace normscope::cuda::tiled {

/// What both passes of a tangent_kernel compute of a tile of keys: P and S' = Q'Kᵀ + QK'ᵀ, zero where masked.
template <class Rows, int D>
__device__ inline void tangent_scores(typename Rows::template Block<Tiling<Rows, D>::other>& p,
                                      typename Rows::template Block<Tiling<Rows, D>::other>& ts,
                                      const typename Rows::Entry* mine, const typename Rows::Entry* tmine,
                                      const typename Rows::Entry* keys, const typename Rows::Entry* tkeys,
                                      int key, int query, const Sizes& s, float base2,
                                      const float (&largest)[Rows::kRowsOfLane],
                                      const float (&inverse)[Rows::kRowsOfLane]) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    Rows::template scores<D>(ts, tmine, keys, Tile::ld);
    Rows::round(ts);
    Rows::template scores<D>(p, mine, tkeys, Tile::ld);
    Rows::round(p);
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        NORMSCOPE_UNROLL
        for (int c = 0; c < Scores::kColumns; ++c) ts.at[r][c] += p.at[r][c];
    }
    Rows::template scores<D>(p, mine, keys, Tile::ld);
    Rows::round(p);
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int length = s.causal ? query + Rows::row(r) + 1 : s.n;
        NORMSCOPE_UNROLL
        for (int c = 0; c < Scores::kColumns; ++c) {
            const bool there = key + Rows::column(c) < length;
            const float made = probability<Rows>(p.at[r][c], base2, largest[r], inverse[r]);
            p.at[r][c] = there ? made : 0.0f;
            ts.at[r][c] = there ? ts.at[r][c] : 0.0f;
        }
    }
}

/// The tangent of the heads' outputs, P'V + PV' with P' = scale·P∘(S' − Σ P∘S'): keys pass twice, first for
/// the sum. Items are directions at one sequence, which is that of the tape; tq, tk and tv are zero before
/// the first token that moves. One block for each tile of queries from that token on.
template <class Rows, int D>
NORMSCOPE_KERNEL void tangent_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                                     Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                                     Packed<typename Rows::Entry> tq, Packed<typename Rows::Entry> tk,
                                     Packed<typename Rows::Entry> tv, RowSoftmax softmax, HeadRows out) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<2, 2> tiles{shared};
    const Place at = place_of_block(s.items, s.heads);
    const int first = s.padded - (at.tile + 1) * Tile::own, kv = at.head / s.group;
    if (first >= s.n || first + Tile::own <= out.first) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, query = first + warp_row;
    const int end = s.causal && first + Tile::own < s.n ? first + Tile::own : s.n;
    const float factor = *scale, base2 = factor * kLog2E;

    begin_tile<Tile, Tile::own>(tiles.mine(0), q, 0, at.head, first, s.n);
    begin_tile<Tile, Tile::own>(tiles.mine(1), tq, at.item, at.head, first, s.n);
    float largest[Rows::kRowsOfLane], inverse[Rows::kRowsOfLane], mean[Rows::kRowsOfLane];
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int token = query + Rows::row(r);
        const float* const row = token < s.n ? softmax.at(at.head, s.n, token) : nullptr;
        largest[r] = row ? row[0] : 0;
        inverse[r] = row ? row[1] : 0;
        mean[r] = 0;
    }
    const auto scores = [&](Scores& p, Scores& ts, int key) {
        begin_tile<Tile, Tile::other>(tiles.passing(0), k, 0, kv, key, s.n);
        begin_tile<Tile, Tile::other>(tiles.passing(1), tk, at.item, kv, key, s.n);
        finish_tiles();
        __syncthreads();
        tangent_scores<Rows, D>(p, ts, tiles.mine(0) + warp_row * Tile::ld,
                                tiles.mine(1) + warp_row * Tile::ld, tiles.passing(0), tiles.passing(1), key,
                                query, s, base2, largest, inverse);
        __syncthreads();
    };
    for (int key = 0; key < end; key += Tile::other) {
        Scores p, ts;
        scores(p, ts, key);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) mean[r] += p.at[r][c] * ts.at[r][c];
        }
    }
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) mean[r] = over_row<Rows>(mean[r], Plus{});
    typename Rows::template Block<D> mixed;
    for (int key = 0; key < end; key += Tile::other) {
        Scores p, ts;
        scores(p, ts, key);
        begin_tile<Tile, Tile::other>(tiles.passing(0), v, 0, kv, key, s.n);
        begin_tile<Tile, Tile::other>(tiles.passing(1), tv, at.item, kv, key, s.n);
        finish_tiles();
        __syncthreads();
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c)
                ts.at[r][c] = p.at[r][c] == 0 ? 0.0f : p.at[r][c] * (ts.at[r][c] - mean[r]) * factor;
        }
        Rows::mix(mixed, ts, tiles.passing(0), Tile::ld, tiles.scratch_of_warp());
        Rows::mix(mixed, p, tiles.passing(1), Tile::ld, tiles.scratch_of_warp());
        __syncthreads();
    }
    write_rows<Rows, D>(mixed, query, out.first, s.n, 0, out, at.item, at.head);
}

}  // namespace normscope::cuda::tiled
