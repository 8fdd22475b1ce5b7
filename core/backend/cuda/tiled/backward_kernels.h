// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/tiled/tiles.h"
#include "core/backend/cuda/warp.h"

namespace normscope::cuda::tiled {

/// dots[item, head, token] = Σ dout∘out of a head's output, which is the row's Σ p∘dp. One warp each.
/// A template for the sake of its linkage.
template <class T>
__global__ void output_dots_kernel(Sizes s, HeadRows dout, HeadRows out, T* dots) {
    const int i = row_of_warp();
    if (i >= s.items * s.heads * s.n) return;
    const int token = i % s.n, map = i / s.n, item = map / s.heads, head = map % s.heads;
    const T* const gradient = dout.at(item, token, head);
    const T* const result = out.at(item % s.sequences, token, head);
    T sum = 0;
    for (int c = Warp<T>::lane(); c < s.d_head; c += 32) sum += gradient[c] * result[c];
    sum = Warp<T>::sum(sum);
    if (Warp<T>::lane() == 0) dots[i] = sum;
}

/// dQ = dS·K with dS = scale·P∘(dP − dots), dP = dO·Vᵀ and P from the stored softmax. One block for each tile
/// of queries, the longest rows first.
template <class Rows, int D>
__global__ void __launch_bounds__((Tiling<Rows, D>::threads))
    query_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                          Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                          Packed<typename Rows::Entry> dout, RowSoftmax softmax, const float* dots,
                          HeadRows dq) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template Room<2, 2> room{shared};
    const Place at = place_of_block(s.items, s.heads);
    const int first = s.padded - (at.tile + 1) * Tile::own, kv = at.head / s.group,
              sequence = at.item % s.sequences;
    if (first >= s.n) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, query = first + warp_row;
    const int end = s.causal && first + Tile::own < s.n ? first + Tile::own : s.n;
    const float factor = *scale, base2 = factor * kLog2E;

    begin_tile<Tile, Tile::own>(room.mine(0), q.at(sequence, at.head, first));
    begin_tile<Tile, Tile::own>(room.mine(1), dout.at(at.item, at.head, first));
    float largest[Rows::kRowsOfLane], inverse[Rows::kRowsOfLane], dot[Rows::kRowsOfLane];
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int token = query + Rows::row(r);
        const bool there = token < s.n;
        const float* const row = there ? softmax.at(sequence * s.heads + at.head, s.n, token) : nullptr;
        largest[r] = there ? row[0] : 0;
        inverse[r] = there ? row[1] : 0;
        dot[r] =
            there
                ? dots[static_cast<std::size_t>(at.item * s.heads + at.head) * static_cast<std::size_t>(s.n) +
                       static_cast<std::size_t>(token)]
                : 0;
    }
    typename Rows::template Block<D> gradient;
    for (int key = 0; key < end; key += Tile::other) {
        begin_tile<Tile, Tile::other>(room.passing(0), k.at(sequence, kv, key));
        begin_tile<Tile, Tile::other>(room.passing(1), v.at(sequence, kv, key));
        finish_tiles();
        __syncthreads();
        Scores ds, dp;
        Rows::template scores<D>(ds, room.mine(0) + warp_row * Tile::ld, room.passing(0), Tile::ld);
        Rows::template scores<D>(dp, room.mine(1) + warp_row * Tile::ld, room.passing(1), Tile::ld);
        const bool whole = key + Tile::other <= (s.causal ? query + 1 : s.n);
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r) {
            const int length = s.causal ? query + Rows::row(r) + 1 : s.n;
            NORMSCOPE_UNROLL
            for (int c = 0; c < Scores::kColumns; ++c) {
                const float p = probability(Rows::rounded_result(ds.at[r][c]), base2, largest[r], inverse[r]);
                const float made = p * (Rows::rounded_result(dp.at[r][c]) - dot[r]) * factor;
                ds.at[r][c] = whole || key + Rows::column(c) < length ? made : 0.0f;
            }
        }
        Rows::mix(gradient, ds, room.passing(0), Tile::ld, room.scratch_of_warp());
        __syncthreads();
    }
    write_rows<Rows, D>(gradient, query, 0, s.n, 0, dq, at.item, at.head);
}

/// dV = Σ PᵀdO and dK = Σ dSᵀQ over the heads of a group in order, with queries passing in order. One block
/// for each tile of keys and each `columns` columns; it owns what it writes.
template <class Rows, int D>
__global__ void __launch_bounds__((Tiling<Rows, D>::threads))
    key_gradient_kernel(Sizes s, const float* scale, Packed<typename Rows::Entry> q,
                        Packed<typename Rows::Entry> k, Packed<typename Rows::Entry> v,
                        Packed<typename Rows::Entry> dout, RowSoftmax softmax, const float* dots, HeadRows dk,
                        HeadRows dv) {
    using Tile = Tiling<Rows, D>;
    using Scores = typename Rows::template Block<Tile::other>;
    using Sums = typename Rows::template Block<Tile::columns>;
    constexpr int parts = D / Tile::columns;
    NORMSCOPE_DYNAMIC_SHARED(typename Rows::Entry, shared);
    const typename Tile::template Room<2, 2> room{shared};
    float* const rows = room.after_scratch();  // largest, inverse, dot of the passing queries
    const Place at = place_of_block(s.items, s.heads / s.group * parts);
    const int kv = at.head / parts, first_column = at.head % parts * Tile::columns,
              sequence = at.item % s.sequences, first = at.tile * Tile::own;
    if (first >= s.n) return;
    const int warp_row = static_cast<int>(threadIdx.x / 32u) * Rows::kRows, key = first + warp_row;
    const float factor = *scale, base2 = factor * kLog2E;

    begin_tile<Tile, Tile::own>(room.mine(0), k.at(sequence, kv, first));
    begin_tile<Tile, Tile::own>(room.mine(1), v.at(sequence, kv, first));
    Sums values, keys;
    for (int h = kv * s.group; h < (kv + 1) * s.group; ++h)
        for (int query = s.causal ? first : 0; query < s.n; query += Tile::other) {
            begin_tile<Tile, Tile::other>(room.passing(0), q.at(sequence, h, query));
            begin_tile<Tile, Tile::other>(room.passing(1), dout.at(at.item, h, query));
            for (int i = static_cast<int>(threadIdx.x); i < Tile::other && query + i < s.n;
                 i += Tile::threads) {
                const int token = query + i;
                const float* const row = softmax.at(sequence * s.heads + h, s.n, token);
                rows[i] = row[0];
                rows[Tile::other + i] = row[1];
                rows[2 * Tile::other + i] =
                    dots[static_cast<std::size_t>(at.item * s.heads + h) * static_cast<std::size_t>(s.n) +
                         static_cast<std::size_t>(token)];
            }
            finish_tiles();
            __syncthreads();
            Scores p, ds;
            Rows::template scores<D>(p, room.mine(0) + warp_row * Tile::ld, room.passing(0), Tile::ld);
            Rows::template scores<D>(ds, room.mine(1) + warp_row * Tile::ld, room.passing(1), Tile::ld);
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
            Rows::mix(values, p, room.passing(1) + first_column, Tile::ld, room.scratch_of_warp());
            Rows::mix(keys, ds, room.passing(0) + first_column, Tile::ld, room.scratch_of_warp());
            __syncthreads();
        }
    write_rows<Rows, Tile::columns>(values, key, 0, s.n, first_column, dv, at.item, kv);
    write_rows<Rows, Tile::columns>(keys, key, 0, s.n, first_column, dk, at.item, kv);
}

}  // namespace normscope::cuda::tiled
