// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: a norm backwards with the
// gradients of its weights and the sum of its result's squares, in one launch over chunks of rows.
#pragma once

#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/norm.h"
#include "core/backend/cuda/ops/reduction.h"
#include "core/backend/row/norm.h"

namespace normscope::cuda {

/// A block works on this many rows, a warp on every kNormWarps-th of them; the weights' gradients are summed
/// for this many columns at a time.
inline constexpr int kNormRows = 32, kNormWarps = 8, kNormColumns = 128;

/// Partial sums of a launch over chunks of rows: of dγ and dβ, [chunks, columns] with columns 2d, or d
/// without β, or 0 without weights; of squares [chunks], or null.
template <class T>
struct NormPartials {
    T* weights = nullptr;
    int columns = 0;
    double* squares = nullptr;
};

/// dγ and dβ of the rows first … end − 1, to partial [columns].
template <class L, class U, class T>
__device__ inline void norm_weight_sums(int first, int end, int d, const T* x, NormStatistics<T> statistics,
                                        T scale, U dy, int columns, T* partial) {
    constexpr int group = kNormColumns / 32;
    NORMSCOPE_SHARED(T, sums, 2 * kNormColumns * kNormWarps);
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    for (int tile = 0; tile < d; tile += kNormColumns) {
        T of_gamma[group] = {}, of_beta[group] = {};
        for (int r = first + warp; r < end; r += kNormWarps) {
            const T mean = statistics.mean[r], rstd = statistics.rstd[r];
            const std::size_t row = static_cast<std::size_t>(r) * static_cast<std::size_t>(d);
            NORMSCOPE_UNROLL
            for (int j = 0; j < group; ++j) {
                const int column = tile + 32 * j;
                if (column + lane >= d) continue;
                const T g = L::entry(dy + static_cast<std::ptrdiff_t>(row) + column + lane) * scale;
                of_gamma[j] += g * ((x[row + static_cast<std::size_t>(column + lane)] - mean) * rstd);
                of_beta[j] += g;
            }
        }
        NORMSCOPE_UNROLL
        for (int j = 0; j < group; ++j) {
            sums[warp * 2 * kNormColumns + 32 * j + lane] = of_gamma[j];
            sums[warp * 2 * kNormColumns + kNormColumns + 32 * j + lane] = of_beta[j];
        }
        __syncthreads();
        // Thread t adds the warps' sums of one column, of dγ or of dβ.
        const int at = static_cast<int>(threadIdx.x), column = tile + at % kNormColumns,
                  result = at < kNormColumns ? column : d + column;
        if (column < d && result < columns) {
            T sum = sums[at];
            for (int w = 1; w < kNormWarps; ++w) sum += sums[w * 2 * kNormColumns + at];
            partial[result] = sum;
        }
        __syncthreads();
    }
}
static_assert(2 * kNormColumns == 32 * kNormWarps && 32 * kNormWarps == kThreads);

/// dx = (add ? dx : 0) + scale·C(γ ∘ dy) of row/norm.h and the partial sums; dx may be dy. L: what loads dy.
template <class L, bool Centred, class U, class T>
__global__ void norm_vjp_kernel(int rows, int d, const T* x, NormStatistics<T> statistics, const T* gamma,
                                const T* scale, bool add, U dy, T* dx, NormPartials<T> partials) {
    const int first = static_cast<int>(blockIdx.x) * kNormRows;
    const int end = first + kNormRows < rows ? first + kNormRows : rows;
    const T by = value_of(scale);
    // Before dx, which may be dy, is written: these rows are the block's alone.
    if (partials.columns > 0)
        norm_weight_sums<L>(first, end, d, x, statistics, by, dy, partials.columns,
                            partials.weights + static_cast<std::size_t>(blockIdx.x) *
                                                   static_cast<std::size_t>(partials.columns));
    double squares = 0;
    for (int r = first + static_cast<int>(threadIdx.x / 32); r < end; r += kNormWarps) {
        const std::size_t row = static_cast<std::size_t>(r) * static_cast<std::size_t>(d);
        T* const to = dx + row;
        row::norm_project<L, Centred>(x + row, d, statistics.mean[r], statistics.rstd[r], gamma,
                                      dy + static_cast<std::ptrdiff_t>(row), by, add, to);
        if (!partials.squares) continue;
        for (int k = Warp<T>::lane(); k < d; k += 32)
            squares += static_cast<double>(to[k]) * static_cast<double>(to[k]);
    }
    if (!partials.squares) return;
    squares = block_reduce<Sum>(squares);
    if (threadIdx.x == 0) partials.squares[blockIdx.x] = squares;
}

template <class T>
template <class L, class U>
void CudaCalls<T>::norm_backward(const NormRows<T>& n, U dy, double dy_bytes, const T* scale, bool add, T* dx,
                                 T* dgamma, T* dbeta, double* squares) {
    const unsigned chunks = blocks_for(static_cast<std::size_t>(n.rows), kNormRows);
    const auto d = static_cast<unsigned>(n.d), columns = dgamma ? (dbeta ? 2 * d : d) : 0;
    // The squares' first: they are the wider.
    const std::size_t of_squares = squares ? chunks * sizeof(double) : 0;
    auto* const memory = static_cast<unsigned char*>(
        partial_sums(of_squares + static_cast<std::size_t>(chunks) * columns * sizeof(T)));
    const NormPartials<T> partial{reinterpret_cast<T*>(memory + of_squares), static_cast<int>(columns),
                                  squares ? reinterpret_cast<double*>(memory) : nullptr};
    moves([&] {
        const Traffic sums{
            0, static_cast<double>(of_squares) + static_cast<double>(chunks) * columns * sizeof(T),
            (dgamma ? 5.0 : 0.0) * n.rows * n.d};
        return norm_traffic(n.rows, n.d, sizeof(T) + dy_bytes + (add ? sizeof(T) : 0), sizeof(T), 0, 2,
                            sizeof(T)) +
               sums;
    });
    const grid::Shape shape{{chunks}, {32 * kNormWarps}};
    run("norm_vjp", centred(n.kind) ? norm_vjp_kernel<L, true, U, T> : norm_vjp_kernel<L, false, U, T>, shape,
        n.rows, n.d, n.x, n.statistics, n.gamma, scale, add, dy, dx, partial);
    if (dgamma) add_chunks(ChunkSum<T>{partial.weights, dgamma, chunks, columns, d});
    if (dbeta) add_chunks(ChunkSum<T>{partial.weights + d, dbeta, chunks, columns, d});
    if (squares) add_chunks(ChunkSum<double>{partial.squares, squares, chunks, 1, 1});
}

template <class T>
void CudaLayerOps<T>::norm_vjp(const NormRows<T>& n, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                               T* dbeta, double* squares) {
    if (n.rows == 0) return;
    const bool rounds_later = this->rounds_pure();
    if (!dgamma && (!squares || rounds_later)) {
        moves(
            [&] { return norm_traffic(n.rows, n.d, (add ? 3 : 2) * sizeof(T), sizeof(T), 0, 2, sizeof(T)); });
        run("norm_vjp", norm_project_of<T>(n.kind), one_warp_each(static_cast<std::size_t>(n.rows)), n.rows,
            TapePiece{0, n.rows, 1}, dense_rows(n.x, n.d), n.statistics, n.gamma, nullptr, scale, add,
            dense_rows(dy, n.d), dense_rows(dx, n.d));
    } else {
        this->template norm_backward<Warp<T>>(n, dy, sizeof(T), scale, add, dx, dgamma, dbeta,
                                              rounds_later ? nullptr : squares);
    }
    if (!rounds_later) return;
    if (dgamma) round_pure(static_cast<std::size_t>(n.d), dgamma);
    if (dbeta) round_pure(static_cast<std::size_t>(n.d), dbeta);
    round_pure(area(n.rows, n.d), dx);
    if (squares) this->add_squares_of(1, area(n.rows, n.d), 0, dx, squares);
}

}  // namespace normscope::cuda
