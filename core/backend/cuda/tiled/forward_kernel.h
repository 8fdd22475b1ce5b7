// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/tiled/tiles.h"

namespace normscope::cuda::tiled {

/// softmax(scale·QKᵀ)·V with the softmax built while tiles of keys pass (Dao, "FlashAttention-2", 2023,
/// algorithm 1): `sum` and `mixed` are those of exp(scale·(score − largest)) with the largest score so far,
/// and are rescaled when it grows. One block for each tile of queries, the longest rows first.
template <class Rows, int D>
NORMSCOPE_KERNEL void forward_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                                     Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                                     RowSoftmax softmax, HeadRows out) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template SharedTiles<1, 2 * Tile::stages> tiles{shared};
    const Place at = place_of_block(s.items, s.heads);
    const int first = s.padded - (at.tile + 1) * Tile::own, kv = at.head / s.group;
    if (first >= s.n) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, query = first + warp_row;
    const int end = s.causal && first + Tile::own < s.n ? first + Tile::own : s.n;
    const float base2 = *scale * kLog2E;

    begin_tile<Tile, Tile::own>(tiles.mine(0), q, at.item, at.head, first, s.n);
    typename Rows::template Block<D> mixed;
    float largest[Rows::kRowsOfLane], sum[Rows::kRowsOfLane];
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) largest[r] = minus_infinity, sum[r] = 0;
    const auto fetch = [&](int to, int key) {
        begin_tile<Tile, Tile::other>(tiles.passing(to), k, at.item, kv, key, s.n);
        begin_tile<Tile, Tile::other>(tiles.passing(to + 1), v, at.item, kv, key, s.n);
    };
    over_tiles<Tile>(0, end, Tile::other, fetch, [&](int from, int key) {
        Scores p;
        Rows::template scores<D>(p, tiles.mine(0) + warp_row * Tile::ld, tiles.passing(from), Tile::ld);
        Rows::round(p);
        if (key + Tile::other > (s.causal ? (query < s.n ? query + 1 : s.n) : s.n)) {
            NORMSCOPE_UNROLL
            for (int r = 0; r < Rows::kRowsOfLane; ++r) {
                const int length = s.causal && query + Rows::row(r) < s.n ? query + Rows::row(r) + 1 : s.n;
                NORMSCOPE_UNROLL
                for (int c = 0; c < Scores::kColumns; ++c)
                    p.at[r][c] = key + Rows::column(c) < length ? p.at[r][c] : minus_infinity;
            }
        }
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            float most = minus_infinity;
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) most = Larger{}(p.at[r][c], most);
            most = Larger{}(over_row<Rows>(most, Larger{}), largest[r]);
            // Of a row whose scores are all −∞ so far: their exponentials are 0.
            const float subtracted = most == minus_infinity ? 0.0f : most;
            const float kept = Rows::power(largest[r], base2, subtracted);
            largest[r] = most;
            float added = 0;
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) {
                p.at[r][c] = Rows::power(p.at[r][c], base2, subtracted);
                added += p.at[r][c];
            }
            sum[r] = sum[r] * kept + over_row<Rows>(added, Plus{});
            NORMSCOPE_UNROLL
            for (int c = 0; c < Rows::template Block<D>::kColumns; ++c) mixed.at[r][c] *= kept;
        }
        Rows::mix(mixed, p, tiles.passing(from + 1), Tile::ld, tiles.scratch_of_warp());
    });
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const float inverse = 1 / sum[r];
        NORMSCOPE_UNROLL
        for (int c = 0; c < Rows::template Block<D>::kColumns; ++c) mixed.at[r][c] *= inverse;
        const int token = query + Rows::row(r);
        if (token < s.n && Rows::lane() % Rows::kLanesOfRow == 0) {
            float* const kept = softmax.at(at.item * s.heads + at.head, s.n, token);
            kept[0] = largest[r];
            kept[1] = inverse;
        }
    }
    write_rows<Rows, D>(mixed, query, 0, s.n, 0, out, at.item, at.head);
}

}  // namespace normscope::cuda::tiled
