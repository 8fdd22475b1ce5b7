// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: a norm backwards with the
// gradients of its weights, the sum of its result's squares and the gradient at the map before, in one launch
// over chunks of rows.
#pragma once

#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/norm.h"
#include "core/backend/cuda/ops/reduction.h"
#include "core/backend/row/norm.h"

namespace normscope::cuda {

/// A block works on this many rows, a warp on every kNormWarps-th of them; the weights' gradients are summed
/// for this many columns at a time. Chosen without a card: 4,096 rows are 128 blocks, about one for each
/// multiprocessor of an H100.
inline constexpr int kNormRows = 32, kNormWarps = 8, kNormColumns = 128;

/// Partial sums of a launch over chunks of rows: of squares [chunks], or null; of dγ and dβ, [chunks,
/// columns] with columns 2d, or d without β, or 0 without weights; of a branch's gradient [chunks, d], or
/// null.
template <class T>
struct NormPartials {
    double* squares = nullptr;
    T* weights = nullptr;
    int columns = 0;
    T* branch = nullptr;
};

/// BranchGradient of a launch: `to`, rows that L stores, unless not `there`, and how the terms of their sums
/// are rounded.
template <class To, class T>
struct NormBranch {
    const T* factor;
    To to;
    bool there;
    Rounding terms;
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

/// The branch's gradient at the rows first … end − 1 of dx, and the sums of those rows to partial [d] unless
/// null.
template <class L, class To, class T>
__device__ inline void branch_rows(int first, int end, int d, const T* dx, const NormBranch<To, T>& branch,
                                   T* partial) {
    constexpr int group = kNormColumns / 32;
    NORMSCOPE_SHARED(T, sums, kNormColumns * kNormWarps);
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const T by = value_of(branch.factor);
    for (int tile = 0; tile < d; tile += kNormColumns) {
        T sum[group] = {};
        for (int r = first + warp; r < end; r += kNormWarps) {
            const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(r) * d;
            NORMSCOPE_UNROLL
            for (int j = 0; j < group; ++j) {
                const int column = tile + 32 * j + lane;
                if (column >= d) continue;
                sum[j] += L::put(branch.to + (row + column), dx[row + column] * by, branch.terms);
            }
        }
        if (!partial) continue;
        NORMSCOPE_UNROLL
        for (int j = 0; j < group; ++j) sums[warp * kNormColumns + 32 * j + lane] = sum[j];
        __syncthreads();
        const int at = static_cast<int>(threadIdx.x), column = tile + at;
        if (at < kNormColumns && column < d) {
            T total = sums[at];
            for (int w = 1; w < kNormWarps; ++w) total += sums[w * kNormColumns + at];
            partial[column] = total;
        }
        __syncthreads();
    }
}

/// dx = (add ? dx : 0) + scale·C(γ ∘ dy) of row/norm.h, the branch's gradient and the partial sums; dx may be
/// dy. L: what loads dy and stores the branch's rows.
template <class L, bool Centred, class U, class To, class T>
NORMSCOPE_KERNEL void norm_vjp_kernel(int rows, int d, const T* x, NormStatistics<T> statistics,
                                      const T* gamma, const T* scale, bool add, U dy, T* dx,
                                      NormBranch<To, T> branch, NormPartials<T> partials) {
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
    if (partials.squares) {
        squares = block_reduce<Sum>(squares);
        if (threadIdx.x == 0) partials.squares[blockIdx.x] = squares;
    }
    if (!branch.there) return;  // below, a lane reads what it has written itself
    branch_rows<L>(first, end, d, dx, branch,
                   partials.branch
                       ? partials.branch + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(d)
                       : nullptr);
}

template <class T>
template <class L, class U, class To>
void CudaCalls<T>::norm_backward(const NormRows<T>& n, U dy, const T* scale, bool add, T* dx, T* dgamma,
                                 T* dbeta, double* squares, const BranchGradient<T>& before, To to) {
    const unsigned chunks = blocks_for(static_cast<std::size_t>(n.rows), kNormRows);
    const auto d = static_cast<unsigned>(n.d), columns = dgamma ? (dbeta ? 2 * d : d) : 0;
    const bool there = bool(before.rows);
    // The squares' first: they are the wider.
    const std::size_t of_squares = squares ? chunks * sizeof(double) : 0,
                      of_weights = static_cast<std::size_t>(chunks) * columns,
                      of_branch = before.sums ? static_cast<std::size_t>(chunks) * d : 0;
    const std::size_t bytes = of_squares + (of_weights + of_branch) * sizeof(T);
    auto* const memory = static_cast<unsigned char*>(partial_sums(bytes));
    T* const weights = reinterpret_cast<T*>(memory + of_squares);
    const NormPartials<T> partial{squares ? reinterpret_cast<double*>(memory) : nullptr, weights,
                                  static_cast<int>(columns), before.sums ? weights + of_weights : nullptr};
    const NormBranch<To, T> branch{before.factor, to, there, rounding_};
    moves([&] {
        const double entries = static_cast<double>(area(n.rows, n.d));
        return norm_traffic(n.rows, n.d, sizeof(T) + L::bytes(dy) + (add ? sizeof(T) : 0),
                            sizeof(T) + (there ? L::bytes(to) : 0), 0, 2, sizeof(T)) +
               Traffic{0, static_cast<double>(bytes), ((dgamma ? 5.0 : 0.0) + (there ? 2.0 : 0.0)) * entries};
    });
    run("norm_vjp",
        centred(n.kind) ? kernel_of<norm_vjp_kernel<L, true, U, To, T>>
                        : kernel_of<norm_vjp_kernel<L, false, U, To, T>>,
        grid::Shape{{chunks}, {32 * kNormWarps}}, n.rows, n.d, n.x, n.statistics, n.gamma, scale, add, dy, dx,
        branch, partial);
    if (dgamma) add_later(ChunkSum::of(weights, dgamma, chunks, columns, d));
    if (dbeta) add_later(ChunkSum::of(weights + d, dbeta, chunks, columns, d));
    if (squares) add_later(ChunkSum::of(partial.squares, squares, chunks, 1, 1));
    if (before.sums) add_later(ChunkSum::of(partial.branch, before.sums, chunks, d, d, rounding_));
}

template <class T>
void CudaLayerOps<T>::norm_vjp(const NormRows<T>& n, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                               T* dbeta, double* squares, const BranchGradient<T>& before) {
    if (n.rows == 0) return;
    const bool rounds = this->rounds_pure();
    if (!dgamma && (rounds || (!squares && !before.rows))) {
        moves(
            [&] { return norm_traffic(n.rows, n.d, (add ? 3 : 2) * sizeof(T), sizeof(T), 0, 2, sizeof(T)); });
        run("norm_vjp", norm_project_of<T>(n.kind), one_warp_each(static_cast<std::size_t>(n.rows)), n.rows,
            TapePiece{0, n.rows, 1}, dense_rows(n.x, n.d), n.statistics, n.gamma, nullptr, scale, add,
            dense_rows(dy, n.d), dense_rows(dx, n.d));
    } else {
        // What is computed of a result that is rounded waits for that.
        this->template norm_backward<Warp<T>>(
            n, dy, scale, add, dx, dgamma, dbeta, rounds ? nullptr : squares,
            rounds ? BranchGradient<T>{} : before, rounds ? nullptr : before.rows.floats);
    }
    if (!rounds) return;
    const std::size_t count = area(n.rows, n.d);
    if (dgamma) round_pure(static_cast<std::size_t>(n.d), dgamma);
    if (dbeta) round_pure(static_cast<std::size_t>(n.d), dbeta);
    round_pure(count, dx);
    if (squares) this->add_squares_of(1, count, 0, dx, squares);
    if (!before.rows) return;
    each("scale", count, Scale<T>{before.factor, dx, before.rows.floats});
    round_pure(count, before.rows.floats);
    if (before.sums) column_sums(n.rows, n.d, before.rows.floats, before.sums);
}

}  // namespace normscope::cuda
