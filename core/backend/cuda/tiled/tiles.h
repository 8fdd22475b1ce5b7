// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/tiled/rows_float.h"
#include "core/backend/cuda/tiled/rows_tensor.h"
#include "core/backend/shared/shared_code.h"

#include <cstddef>
#include <limits>

namespace normscope::cuda::tiled {

/// Sequences are padded to whole tiles of every size that occurs.
inline constexpr int kTokens = 64;

/// What all kernels of one call have in common. An item is one direction at one sequence:
/// direction·sequences + sequence.
struct Sizes {
    int n, padded;  ///< tokens of a sequence, and up to a multiple of kTokens
    int heads, group, d_head, sequences, items;
    bool causal;
};

/// The pieces of `d_head` numbers that heads have in rows of float32 or of 16 bits in the kernel's format;
/// tokens from `first` on.
struct HeadRows {
    void* data;  ///< head 0 of the first row
    bool in_16_bits;
    std::size_t row, item;
    int d_head, first = 0;
    /// Of float32, or null: the sums of the rows of each tile of `own` tokens, [items, tiles, row], where the
    /// rows are results.
    float* sums = nullptr;
    NORMSCOPE_SHARED_CODE std::size_t at(int of, int token, int head) const {
        return static_cast<std::size_t>(of) * item + static_cast<std::size_t>(token - first) * row +
               static_cast<std::size_t>(head) * static_cast<std::size_t>(d_head);
    }
    template <class E>
    NORMSCOPE_SHARED_CODE E* as() const {
        return static_cast<E*>(data);
    }
};

/// Heads in the entries that products read: copies [items, heads, padded, D], or the rows where they are.
/// Only tokens from `first` on and `columns` entries of a row are read, the others are zero.
template <class Entry>
struct Packed {
    Entry* data;
    int heads;
    std::size_t row, head, item;  ///< distances
    int columns, first;
    NORMSCOPE_SHARED_CODE Entry* at(int of, int of_head, int token) const {
        return data + static_cast<std::size_t>(of) * item + static_cast<std::size_t>(of_head) * head +
               static_cast<std::size_t>(token - first) * row;
    }
};

/// The largest score and 1/Σ exp(scale·(score − largest)) of each row of a map, in AttentionTape.
struct RowSoftmax {
    float* data;
    NORMSCOPE_SHARED_CODE float* at(int map, int n, int token) const {
        return data + 2 * (static_cast<std::size_t>(map) * static_cast<std::size_t>(n) +
                           static_cast<std::size_t>(token));
    }
};

/// Of numbers [maps, n], that of one row of a map.
template <class P>
NORMSCOPE_SHARED_CODE inline P* row_number(P* numbers, int map, int n, int token) {
    return numbers + static_cast<std::size_t>(map) * static_cast<std::size_t>(n) +
           static_cast<std::size_t>(token);
}

/// Sizes of a block's tiles, D being d_head padded to 32, 64, 128 or 256: `own` rows stay in shared memory,
/// 16 a warp, while tiles of `other` rows pass. Accumulators of a lane and shared memory bound them: 128
/// registers, 99 KiB.
template <class Rows, int D_>
struct Tiling {
    using R = Rows;
    using Entry = typename Rows::Entry;
    static constexpr int D = D_;
    static constexpr bool tensor = sizeof(Entry) == 2;
    static constexpr int warps = !tensor && D == 256 ? 2 : 4;
    static constexpr int own = Rows::kRows * warps, threads = 32 * warps;
    /// On a multiprocessor, as many as registers allow without spilling: at most 168 a thread, or 255.
    static constexpr int blocks = D <= 64 ? 3 : 2;
    static constexpr int other = tensor ? (D == 256 ? 16 : 32) : D == 256 ? 8 : D == 128 ? 16 : 32;
    static constexpr int ld = D + Rows::kExtra;
    /// While one pair of passing tiles is read, the next one comes, where shared memory is enough.
    static constexpr int stages = tensor && D <= 128 ? 2 : 1;
    /// Columns of the gradients of keys and values that one block makes.
    static constexpr int columns = D < 128 ? D : 128;
    static constexpr int own_entries = own * ld, other_entries = other * ld;
    static constexpr int scratch = warps * Rows::template kScratch<other>;  // floats
    template <int Own, int Other>
    static constexpr std::size_t bytes(int floats = 0) {
        return sizeof(Entry) * (Own * own_entries + Other * other_entries) +
               sizeof(float) * static_cast<std::size_t>(scratch + floats);
    }
    /// The shared memory of a block: `Own` and `Other` tiles, then the warps' scratch, then other floats.
    template <int Own, int Other>
    struct SharedTiles {
        Entry* begin;
        __device__ Entry* mine(int i) const { return begin + i * own_entries; }
        __device__ Entry* passing(int i) const { return begin + Own * own_entries + i * other_entries; }
        __device__ float* floats() const { return reinterpret_cast<float*>(passing(Other)); }
        __device__ float* scratch_of_warp() const {
            return floats() + static_cast<int>(threadIdx.x / 32u) * Rows::template kScratch<other>;
        }
        __device__ float* after_scratch() const { return floats() + scratch; }
    };
};

/// What a block works on: blocks are numbered by tile, then item, then head.
struct Place {
    int tile, item, head;
};
__device__ inline Place place_of_block(int items, int heads) {
    const int b = static_cast<int>(blockIdx.x);
    return {b / heads / items, b / heads % items, b % heads};
}

/// Begins to copy `Count` rows of a head from a token on; zeros beyond the `n` tokens.
template <class Tile, int Count>
__device__ inline void begin_tile(typename Tile::Entry* to, const Packed<typename Tile::Entry>& heads,
                                  int item, int head, int token, int n) {
    constexpr int pieces = Tile::D / Tile::R::kPiece;
    for (int i = static_cast<int>(threadIdx.x); i < Count * pieces; i += Tile::threads) {
        const int row = i / pieces, column = i % pieces * Tile::R::kPiece;
        const bool there = token + row < n && token + row >= heads.first && column < heads.columns;
        grid::cp_async16(to + row * Tile::ld + column,
                         there ? heads.at(item, head, token + row) + column : heads.data, there);
    }
}
/// Waits for all copies of the block.
__device__ inline void finish_tiles() {
    grid::cp_async_commit();
    grid::cp_async_wait<0>();
}

/// body(at, i) for i = 0, step, … < end with a pair of tiles each: fetch(at, i) begins to copy it into
/// passing(at) and passing(at + 1), and all threads may read it in body.
template <class Tile, class Fetch, class Body>
__device__ inline void over_tiles(int begin, int end, int step, const Fetch& fetch, const Body& body) {
    if constexpr (Tile::stages == 1) {
        for (int i = begin; i < end; i += step) {
            fetch(0, i);
            finish_tiles();
            __syncthreads();
            body(0, i);
            __syncthreads();
        }
    } else {
        if (begin < end) fetch(0, begin);
        grid::cp_async_commit();
        int at = 0;
        for (int i = begin; i < end; i += step, at = 2 - at) {
            if (i + step < end) fetch(2 - at, i + step);
            grid::cp_async_commit();
            grid::cp_async_wait<1>();
            __syncthreads();
            body(at, i);
            __syncthreads();
        }
    }
}

struct Packing {
    static constexpr int threads = 128, blocks = 1;
};
/// One block for each item, head and kTokens tokens, token tiles last.
template <class Rows, int D>
NORMSCOPE_KERNEL void pack_kernel(int n, int items, HeadRows from, Packed<typename Rows::Entry> to) {
    using Entry = typename Rows::Entry;
    const Place at = place_of_block(items, to.heads);
    constexpr int pieces = D / Rows::kPiece;
    for (int i = static_cast<int>(threadIdx.x); i < kTokens * pieces; i += static_cast<int>(blockDim.x)) {
        const int token = at.tile * kTokens + i / pieces, column = i % pieces * Rows::kPiece;
        const bool there = token >= from.first && token < n;
        if (!there && token >= n) continue;
        const std::size_t row = there ? from.at(at.item, token, at.head) : 0;
        Entry* const piece = to.at(at.item, at.head, token) + column;
        if (from.in_16_bits) {
            NORMSCOPE_UNROLL
            for (int k = 0; k < Rows::kPiece; ++k)
                piece[k] = there && column + k < from.d_head
                               ? from.as<Entry>()[row + static_cast<std::size_t>(column + k)]
                               : Entry(0);
            continue;
        }
        float values[Rows::kPiece];
        NORMSCOPE_UNROLL
        for (int k = 0; k < Rows::kPiece; ++k)
            values[k] = there && column + k < from.d_head
                            ? from.as<float>()[row + static_cast<std::size_t>(column + k)]
                            : 0.0f;
        Rows::store_piece(piece, values);
    }
}

/// combine over the lanes of each row.
template <class Rows, class Combine>
__device__ inline float over_row(float value, Combine combine) {
    NORMSCOPE_UNROLL
    for (int step = 1; step < Rows::kLanesOfRow; step *= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}
struct Larger {
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};

inline constexpr float kLog2E = 1.44269504088896341f;

/// A row's probability from its score: 2^(base2·(score − largest))·inverse, base2 = scale·log₂ e.
template <class Rows>
__device__ inline float probability(float score, float base2, float largest, float inverse) {
    return Rows::power(score, base2, largest) * inverse;
}

/// Writes the lane's entries of the rows of tokens first … n − 1 and columns below d_head, as results of a
/// product.
template <class Rows, int M>
__device__ inline void write_rows(const typename Rows::template Block<M>& block, int first_row, int begin,
                                  int end, int first_column, const HeadRows& to, int item, int head) {
    NORMSCOPE_UNROLL
    for (int r = 0; r < Rows::kRowsOfLane; ++r) {
        const int token = first_row + Rows::row(r);
        if (token < begin || token >= end) continue;
        const std::size_t row = to.at(item, token, head);
        NORMSCOPE_UNROLL
        for (int c = 0; c < Rows::template Block<M>::kColumns; ++c) {
            const int column = first_column + Rows::mixed_column(c);
            if (column >= to.d_head) continue;
            const std::size_t i = row + static_cast<std::size_t>(column);
            if (to.in_16_bits)
                to.as<typename Rows::Entry>()[i] = Rows::entry(block.at[r][c]);
            else
                to.as<float>()[i] = Rows::rounded_result(block.at[r][c]);
        }
    }
}

/// Of those rows the sums over tokens first … n − 1 of the block's tile, its `tile`-th of `tiles`, in order
/// of the warps. `shared`: M numbers a warp. All threads of the block call it.
template <class Tile, int M>
__device__ inline void write_sums(const typename Tile::R::template Block<M>& block, int first_row, int n,
                                  int first_column, const HeadRows& to, int item, int head, int tile,
                                  float* shared) {
    using Rows = typename Tile::R;
    const int warp = static_cast<int>(threadIdx.x / 32u);
    __syncthreads();  // `shared` is free
    NORMSCOPE_UNROLL
    for (int c = 0; c < Rows::template Block<M>::kColumns; ++c) {
        float sum = 0;
        NORMSCOPE_UNROLL
        for (int r = 0; r < Rows::kRowsOfLane; ++r)
            if (first_row + Rows::row(r) < n) sum += Rows::rounded_result(block.at[r][c]);
        NORMSCOPE_UNROLL
        for (int step = Rows::kLanesOfRow; step < 32; step *= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (Rows::lane() < Rows::kLanesOfRow) shared[warp * M + Rows::mixed_column(c)] = sum;
    }
    __syncthreads();
    const int tiles = (n + Tile::own - 1) / Tile::own;
    float* const sums = to.sums + static_cast<std::size_t>(item * tiles + tile) * to.row +
                        static_cast<std::size_t>(head * to.d_head + first_column);
    for (int i = static_cast<int>(threadIdx.x); i < M && first_column + i < to.d_head; i += Tile::threads) {
        float sum = shared[i];
        for (int w = 1; w < Tile::warps; ++w) sum += shared[w * M + i];
        sums[i] = sum;
    }
}

}  // namespace normscope::cuda::tiled
