// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: norms, one warp per normalised piece of a row.
#pragma once

#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/columns.h"
#include "core/backend/row/norm.h"

namespace normscope::cuda {

/// Pieces of d entries: `pieces` neighbouring ones in each of rows `stride` apart.
template <class P>
struct PieceRows {
    P* data;
    std::size_t stride;
    int pieces, d;
    NORMSCOPE_SHARED_CODE P* at(int i) const {
        return data + static_cast<std::size_t>(i / pieces) * stride +
               static_cast<std::size_t>(i % pieces) * static_cast<std::size_t>(d);
    }
};
template <class P>
PieceRows<P> dense_rows(P* data, int d) {
    return {data, static_cast<std::size_t>(d), 1, d};
}

/// The piece of the tape that piece i of a gradient or a tangent belongs to, where several directions share
/// the rows first … first + rows − 1 of a tape.
struct TapePiece {
    int first, rows, pieces;
    NORMSCOPE_SHARED_CODE int of(int i) const { return (first + i / pieces % rows) * pieces + i % pieces; }
};

/// The statistics of row i and y = norm(x), by a warp. L: what stores y.
template <class L, bool Centred, class Y, class T>
__device__ inline void norm_of_row(int i, const T* x, int d, const T* eps, const T* gamma, const T* beta,
                                   const T* scale, NormStatistics<T> statistics, Y y) {
    T mean, rstd;
    row::norm_statistics<L, Centred>(x, d, *eps, mean, rstd);
    row::norm_apply<L>(x, d, mean, rstd, gamma, beta, value_of(scale), y);
    if (L::lane() != 0) return;
    statistics.mean[i] = mean;
    statistics.rstd[i] = rstd;
}
template <class T, bool Centred>
NORMSCOPE_KERNEL void norm_forward_kernel(int count, PieceRows<const T> x, const T* eps, const T* gamma,
                                          const T* beta, const T* scale, NormStatistics<T> statistics,
                                          PieceRows<T> y) {
    const int i = row_of_warp();
    if (i < count)
        norm_of_row<Warp<T>, Centred>(i, x.at(i), x.d, eps, gamma, beta, scale, statistics, y.at(i));
}

/// a·x + b·f, rows of d entries. L: what loads f.
template <class L, class U, class T>
struct ResidualRows {
    const T *a, *x, *b;
    U f;
    int d;
    __device__ T operator()(int i, int k) const {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * d + k;
        const T of_x = x[at], of_f = L::entry(f + at);
        T sum;
        row::axpby<Serial<T>>(1, value_of(a), &of_x, value_of(b), &of_f, &sum);
        return sum;
    }
};
/// Rows of the table and of positions (null: none).
template <class T>
struct EmbeddedRows {
    int d, length;
    const std::int32_t* tokens;
    const T *table, *positions;
    __device__ T operator()(int i, int k) const {
        const T token = table[static_cast<std::ptrdiff_t>(tokens[i]) * d + k];
        return positions ? token + positions[static_cast<std::ptrdiff_t>(i % length) * d + k] : token;
    }
};

/// z = rows, norm_forward_kernel of z, and the squares of its rows (null: none): a lane reads what it has
/// written. L: what stores y.
template <class L, bool Centred, class Rows, class Y, class T>
NORMSCOPE_KERNEL void rows_norm_kernel(int count, int d, Rows rows, T* z, double* squares, const T* eps,
                                       const T* gamma, const T* beta, const T* scale,
                                       NormStatistics<T> statistics, Y y) {
    const int i = row_of_warp();
    if (i >= count) return;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(i) * d;
    double square = 0;
    for (int k = L::lane(); k < d; k += L::size) {
        const T v = rows(i, k);
        z[first + k] = v;
        square += static_cast<double>(v) * static_cast<double>(v);
    }
    if (squares) {
        square = grid::warp_reduce(square, Sum{});
        if (L::lane() == 0) squares[i] = square;
    }
    norm_of_row<L, Centred>(i, z + first, d, eps, gamma, beta, scale, statistics, y + first);
}

/// out = (add ? out : 0) + scale·C(weight ∘ u), then times `after`: both directions of the Jacobian.
template <class T, bool Centred>
NORMSCOPE_KERNEL void norm_project_kernel(int count, TapePiece tape, PieceRows<const T> x,
                                          NormStatistics<T> statistics, const T* weight, const T* after,
                                          const T* scale, bool add, PieceRows<const T> u, PieceRows<T> out) {
    const int i = row_of_warp();
    if (i >= count) return;
    const int of = tape.of(i);
    T* to = out.at(i);
    row::norm_project<Warp<T>, Centred>(x.at(of), x.d, statistics.mean[of], statistics.rstd[of], weight,
                                        u.at(i), value_of(scale), add, to);
    if (after)
        for_lanes<Warp<T>>(x.d, [&](int k, auto part) {
            Warp<T>::store(to + k, Warp<T>::load(to + k, part) * Warp<T>::load(after + k, part), part);
        });
}

/// The terms of dγ.
template <class T>
struct GammaTerm {
    PieceRows<const T> x;
    NormStatistics<T> statistics;
    PieceRows<const T> dy;
    const T* scale;
    NORMSCOPE_SHARED_CODE T operator()(int i, int column) const {
        const T x_hat = (x.at(i)[column] - statistics.mean[i]) * statistics.rstd[i];
        return dy.at(i)[column] * value_of(scale) * x_hat;
    }
    Traffic moves() const { return {2 * sizeof(T), 0, 4}; }
};

/// Of a kernel over rows of d entries: bytes of an entry that are read and written, statistics that are
/// written and read, each of `size` bytes, a row; and two weights of d entries.
inline Traffic norm_traffic(int rows, int d, double read, double written, double statistics_written,
                            double statistics_read, double size) {
    const double entries = static_cast<double>(rows) * d;
    return {entries * read + rows * statistics_read * size + 2 * d * size,
            entries * written + rows * statistics_written * size, entries * 8};
}

/// The kernel of this kind, by whether it subtracts the mean.
inline bool centred(NormKind kind) {
    switch (kind) {
        case NormKind::LayerNorm:
            return true;
        case NormKind::RmsNorm:
            return false;
    }
    return false;
}
template <class T>
auto norm_forward_of(NormKind kind) {
    return centred(kind) ? kernel_of<norm_forward_kernel<T, true>> : kernel_of<norm_forward_kernel<T, false>>;
}
template <class T>
auto norm_project_of(NormKind kind) {
    return centred(kind) ? kernel_of<norm_project_kernel<T, true>> : kernel_of<norm_project_kernel<T, false>>;
}

template <class T>
void CudaLayerOps<T>::norm_forward(const NormRows<T>& n, const T* eps, const T* scale, T* y) {
    if (n.rows == 0) return;
    moves([&] { return norm_traffic(n.rows, n.d, sizeof(T), sizeof(T), 2, 0, sizeof(T)); });
    run("norm_forward", norm_forward_of<T>(n.kind), one_warp_each(static_cast<std::size_t>(n.rows)), n.rows,
        dense_rows(n.x, n.d), eps, n.gamma, n.beta, scale, n.statistics, dense_rows(y, n.d));
    round_pure(area(n.rows, n.d), y);
}

template <class T>
template <class L, class Rows, class Y>
void CudaCalls<T>::rows_norm(const char* name, const NormRows<T>& n, Rows rows, double read, T* z,
                             const T* eps, const T* scale, Y y, double* squares) {
    double* const partial = squares ? partials<double>(static_cast<std::size_t>(n.rows)) : nullptr;
    moves([&] {
        return norm_traffic(n.rows, n.d, read, sizeof(T) + L::bytes(y), 2, 0, sizeof(T)) +
               Traffic{0, squares ? 8.0 * n.rows : 0, 0};
    });
    run(name,
        centred(n.kind) ? kernel_of<rows_norm_kernel<L, true, Rows, Y, T>>
                        : kernel_of<rows_norm_kernel<L, false, Rows, Y, T>>,
        one_warp_each(static_cast<std::size_t>(n.rows)), n.rows, n.d, rows, z, partial, eps, n.gamma, n.beta,
        scale, n.statistics, y);
    if (squares) add_later(ChunkSum::of(partial, squares, static_cast<unsigned>(n.rows), 1, 1));
}

template <class T>
void CudaLayerOps<T>::residual_norm(const NormRows<T>& n, const T* eps, const T* scale, const T* a,
                                    const T* x, const T* b, const T* f, T* z, T* y, double* squares) {
    if (n.rows == 0) return;
    if (!this->rounds_pure())
        return this->template rows_norm<Warp<T>>("residual_norm", n,
                                                 ResidualRows<Warp<T>, const T*, T>{a, x, b, f, n.d},
                                                 2 * sizeof(T), z, eps, scale, y, squares);
    const std::size_t count = area(n.rows, n.d);
    each("axpby", count, Axpby<T>{a, x, b, f, z});
    round_pure(count, z);
    norm_forward(n, eps, scale, y);
    if (squares) this->add_squares_of(1, count, 0, z, squares);
}

/// Bytes of an entry of embedded rows: of the tokens' rows at most one each, and positions once.
template <class T>
double embedded_bytes(int sequences, const T* positions) {
    return sizeof(T) * (1 + (positions ? 1.0 / sequences : 0));
}
template <class T>
void CudaLayerOps<T>::embedding_norm(int sequences, int length, const std::int32_t* tokens, const T* table,
                                     const T* positions, T* x, const NormRows<T>& n, const T* eps,
                                     const T* scale, T* y, double* squares) {
    if (n.rows == 0) return;
    if (!this->rounds_pure())
        return this->template rows_norm<Warp<T>>(
            "embedding_norm", n, EmbeddedRows<T>{n.d, length, tokens, table, positions},
            embedded_bytes(sequences, positions), x, eps, scale, y, squares);
    embedding_forward(sequences, length, n.d, tokens, table, positions, x);
    norm_forward(n, eps, scale, y);
    if (squares) this->add_squares_of(1, area(n.rows, n.d), 0, x, squares);
}

template <class T>
void CudaLayerOps<T>::norm_jvp(const NormRows<T>& n, const T* tx, const T* scale, T* ty) {
    if (n.rows == 0) return;
    moves([&] { return norm_traffic(n.rows, n.d, 2 * sizeof(T), sizeof(T), 0, 2, sizeof(T)); });
    run("norm_jvp", norm_project_of<T>(n.kind), one_warp_each(static_cast<std::size_t>(n.rows)), n.rows,
        TapePiece{0, n.rows, 1}, dense_rows(n.x, n.d), n.statistics, nullptr, n.gamma, scale, false,
        dense_rows(tx, n.d), dense_rows(ty, n.d));
    round_pure(area(n.rows, n.d), ty);
}

}  // namespace normscope::cuda
