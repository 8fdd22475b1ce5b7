// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: embeddings and the cross-entropy.
#pragma once

#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/columns.h"
#include "core/backend/row/cross_entropy.h"

#include <algorithm>

namespace normscope::cuda {

template <class T>
struct Embed {
    std::size_t d, length;
    const std::int32_t* tokens;
    const T *table, *positions;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const std::size_t row = i / d, column = i % d;
        const T token = table[static_cast<std::size_t>(tokens[row]) * d + column];
        x[i] = positions ? token + positions[row % length * d + column] : token;
    }
};

/// The gradient of a token's row of the table is added chunk by chunk of so many rows, so that a frequent
/// token, a fifth of all rows in a short text, is no one warp's work.
inline constexpr int kTokenRows = 128;

/// Which of the rows begin, … end − 1, at most kTokenRows, have a token: a bit each.
struct TokenRows {
    static constexpr int words = kTokenRows / 32;
    unsigned found[words];

    /// Of a whole warp.
    __device__ TokenRows(std::int32_t token, const std::int32_t* tokens, int begin, int end) {
        bool same[words];  // all loads are in flight before the first vote
        const int lane = static_cast<int>(threadIdx.x % 32);
        NORMSCOPE_UNROLL
        for (int k = 0; k < words; ++k) {
            const int r = begin + 32 * k + lane;
            same[k] = r < end && tokens[r] == token;
        }
        NORMSCOPE_UNROLL
        for (int k = 0; k < words; ++k) found[k] = __ballot_sync(0xffffffffu, same[k]);
    }
    /// body(row − begin) in order.
    template <class Body>
    __device__ void each(const Body& body) const {
        NORMSCOPE_UNROLL
        for (int k = 0; k < words; ++k)
            for (unsigned left = found[k]; left; left &= left - 1)
                body(32 * k + __ffs(static_cast<int>(left)) - 1);
    }
    /// Row − begin of the first; kTokenRows where there is none.
    __device__ int first() const {
        int row = kTokenRows;
        NORMSCOPE_UNROLL
        for (int k = words - 1; k >= 0; --k)
            if (found[k]) row = 32 * k + __ffs(static_cast<int>(found[k])) - 1;
        return row;
    }
    __device__ bool any() const { return first() < kTokenRows; }
};

/// Columns of one warp.
inline constexpr int kTokenColumns = 128;

/// One warp per row. The first row of a token in its chunk gets the sum of dx over the chunk's rows of this
/// token, in order; the others of `partial` [rows, d] are not written.
template <class T>
NORMSCOPE_KERNEL void token_chunks_kernel(int rows, int d, const std::int32_t* tokens, const T* dx,
                                          T* partial) {
    const int row = row_of_warp();
    if (row >= rows) return;
    const int begin = row / kTokenRows * kTokenRows;
    const TokenRows same(tokens[row], tokens, begin, begin + kTokenRows < rows ? begin + kTokenRows : rows);
    if (begin + same.first() < row) return;
    const auto row_of = [d](auto* rows_from, int r) {
        return rows_from + static_cast<std::size_t>(r) * static_cast<std::size_t>(d);
    };
    // Several columns of a lane, so that their loads are in flight together.
    constexpr int columns = kTokenColumns / 32;
    for (int column = Warp<T>::lane(); column < d; column += kTokenColumns) {
        T sums[columns]{};
        same.each([&](int r) {
            const T* const from = row_of(dx, begin + r);
            NORMSCOPE_UNROLL
            for (int k = 0; k < columns; ++k)
                if (column + 32 * k < d) sums[k] += from[column + 32 * k];
        });
        T* const to = row_of(partial, row);
        NORMSCOPE_UNROLL
        for (int k = 0; k < columns; ++k)
            if (column + 32 * k < d) to[column + 32 * k] = sums[k];
    }
}

/// One warp per row and kTokenColumns columns. The first row of a token adds the sums of its chunks, in
/// order: every entry of the table is written by one warp.
template <class T>
NORMSCOPE_KERNEL void token_gradient_kernel(int rows, int d, const std::int32_t* tokens, const T* partial,
                                            T* dtable) {
    const int row = row_of_warp();
    if (row >= rows) return;
    const std::int32_t token = tokens[row];
    for (int begin = 0; begin < row; begin += kTokenRows)
        if (TokenRows(token, tokens, begin, begin + kTokenRows < row ? begin + kTokenRows : row).any())
            return;
    constexpr int columns = kTokenColumns / 32;
    const int column = static_cast<int>(blockIdx.y) * kTokenColumns + Warp<T>::lane();
    T sums[columns]{};
    for (int begin = row / kTokenRows * kTokenRows; begin < rows; begin += kTokenRows) {
        const int end = begin + kTokenRows < rows ? begin + kTokenRows : rows;
        const TokenRows same(token, tokens, begin, end);
        if (!same.any()) continue;
        const T* from =
            partial + static_cast<std::size_t>(begin + same.first()) * static_cast<std::size_t>(d);
        NORMSCOPE_UNROLL
        for (int k = 0; k < columns; ++k)
            if (column + 32 * k < d) sums[k] += from[column + 32 * k];
    }
    T* to = dtable + static_cast<std::size_t>(token) * static_cast<std::size_t>(d);
    NORMSCOPE_UNROLL
    for (int k = 0; k < columns; ++k)
        if (column + 32 * k < d) to[column + 32 * k] += sums[k];
}

/// Each row by the lanes of L.
template <class L, class T>
NORMSCOPE_KERNEL void cross_entropy_kernel(int rows, int V, const T* logits, const std::int32_t* targets,
                                           const T* scale, T z, T* losses, T* dlogits) {
    const int r = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / static_cast<unsigned>(L::size));
    if (r >= rows) return;
    const std::size_t at = static_cast<std::size_t>(r) * static_cast<std::size_t>(V);
    const T loss = row::cross_entropy<L>(logits + at, V, targets[r], dlogits ? value_of(scale) : T(1), z,
                                         dlogits ? dlogits + at : nullptr);
    if (L::lane() == 0) losses[r] = loss;
}
/// Rows of more entries have a block each.
inline constexpr int kWarpClasses = 1024;

template <class T>
void CudaLayerOps<T>::embedding_forward(int sequences, int length, int d, const std::int32_t* tokens,
                                        const T* table, const T* positions, T* x) {
    const std::size_t count = area(sequences * length, d);
    const auto embed =
        Embed<T>{static_cast<std::size_t>(d), static_cast<std::size_t>(length), tokens, table, positions, x};
    moves([&] {  // of the tokens' rows at most one each
        return Traffic{(static_cast<double>(count) + (positions ? area(length, d) : 0)) * sizeof(T),
                       sizeof(T) * static_cast<double>(count), static_cast<double>(count)};
    });
    each("embedding_forward", count, embed);
    round_pure(count, x);
}

template <class T>
void CudaLayerOps<T>::embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx,
                                    int vocab, T* dtable, int context, T* dpositions) {
    const int rows = sequences * length;
    if (rows == 0) return;
    T* const partial = work(Work::Columns, area(rows, d));
    grid::Shape shape = one_warp_each(static_cast<std::size_t>(rows));
    // A token's rows of a chunk have one sum, and a token one row: at most as many as there are rows.
    const double row = static_cast<double>(d) * sizeof(T), tables = std::min(rows, vocab);
    const double sums =
        std::min<double>(rows, tables * blocks_for(static_cast<std::size_t>(rows), kTokenRows));
    moves([&] {
        return Traffic{rows * (row + sizeof(std::int32_t)), sums * row, static_cast<double>(rows) * d};
    });
    run("token_chunks", kernel_of<token_chunks_kernel<T>>, shape, rows, d, tokens, dx, partial);
    shape.grid.y = blocks_for(static_cast<std::size_t>(d), kTokenColumns);
    moves([&] {
        return Traffic{(sums + tables) * row + rows * static_cast<double>(sizeof(std::int32_t)), tables * row,
                       sums * d};
    });
    run("token_gradient", kernel_of<token_gradient_kernel<T>>, shape, rows, d, tokens,
        static_cast<const T*>(partial), dtable);
    round_pure(area(vocab, d), dtable);
    if (!dpositions) return;
    // A position's gradient is a sum over the sequences.
    add_later(
        ChunkSum::of(dx, dpositions, static_cast<unsigned>(sequences), area(length, d), area(length, d)));
    round_pure(area(context, d), dpositions);
}

template <class T>
void CudaElementwiseOps<T>::cross_entropy(int R, int V, const T* logits, const std::int32_t* targets,
                                          const T* scale, T z, T* losses, T* dlogits) {
    if (R == 0) return;
    moves([&] {
        const double logits_bytes = sizeof(T) * static_cast<double>(area(R, V));
        return Traffic{logits_bytes + R * static_cast<double>(sizeof(std::int32_t)),
                       (dlogits ? logits_bytes : 0) + R * static_cast<double>(sizeof(T)),
                       6.0 * static_cast<double>(area(R, V))};
    });
    if (V <= kWarpClasses)
        run("cross_entropy", kernel_of<cross_entropy_kernel<Warp<T>, T>>,
            one_warp_each(static_cast<std::size_t>(R)), R, V, logits, targets, scale, z, losses, dlogits);
    else
        run("cross_entropy", kernel_of<cross_entropy_kernel<Block<T>, T>>,
            grid::Shape{{static_cast<unsigned>(R)}, {static_cast<unsigned>(kBlockLanes)}}, R, V, logits,
            targets, scale, z, losses, dlogits);
    if (dlogits) round_pure(area(R, V), dlogits);
}

}  // namespace normscope::cuda
