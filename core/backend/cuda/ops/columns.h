// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: sums over rows, and the linear layers.
#pragma once

#include "core/backend/cuda/ops/elementwise.h"

namespace normscope::cuda {

/// A block adds 32 neighbouring columns, a warp for every kColumnWarps-th row of its chunk.
inline constexpr int kColumnWarps = 8, kChunkRows = 64;

/// The sum of term(r, column) over rows first, first + kColumnWarps, … < end, and of these sums over the
/// block's warps in order: of the block's first warp alone.
template <class T, class Term>
__device__ inline T block_column_sum(int first, int end, int d, int column, Term term) {
    NORMSCOPE_SHARED(T, sums, 32 * kColumnWarps);
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    T sum = 0;
    if (column < d)
        for (int r = first + warp; r < end; r += kColumnWarps) sum += term(r, column);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (warp > 0) return sum;
    for (int w = 1; w < kColumnWarps; ++w) sum += sums[w * 32 + lane];
    return sum;
}

template <class T, class Term>
__global__ void column_chunks_kernel(int rows, int d, Term term, T* partial) {
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
    const int first = static_cast<int>(blockIdx.y) * kChunkRows;
    const int end = first + kChunkRows < rows ? first + kChunkRows : rows;
    const T sum = block_column_sum<T>(first, end, d, column, term);
    if (threadIdx.x < 32 && column < d)
        partial[static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(d) +
                static_cast<std::size_t>(column)] = sum;
}

template <class T>
__global__ void add_chunks_kernel(int chunks, int d, Rounding to, const T* partial, T* sums) {
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
    const auto chunk = [=](int k, int c) {
        return partial[static_cast<std::size_t>(k) * static_cast<std::size_t>(d) +
                       static_cast<std::size_t>(c)];
    };
    T sum = block_column_sum<T>(0, chunks, d, column, chunk);
    if constexpr (std::is_same_v<T, float>) sum = rounded(to, sum);
    if (threadIdx.x < 32 && column < d) sums[column] += sum;
}

template <class T>
template <class Term>
void CudaCalls<T>::add_columns(const char* name, int rows, int d, Term term, T* sums, Rounding to) {
    if (rows == 0 || d == 0) return;
    const unsigned chunks = blocks_for(static_cast<std::size_t>(rows), kChunkRows);
    T* partial = work(Work::Columns, static_cast<std::size_t>(chunks) * static_cast<std::size_t>(d));
    const unsigned columns = blocks_for(static_cast<std::size_t>(d), 32), threads = 32 * kColumnWarps;
    const double partials = static_cast<double>(chunks) * d * sizeof(T),
                 result = sizeof(T) * static_cast<double>(d);
    moves([&] { return term.moves() * (static_cast<double>(rows) * d) + Traffic{0, partials, 0}; });
    run(name, column_chunks_kernel<T, Term>, grid::Shape{{columns, chunks}, {threads}}, rows, d, term,
        partial);
    moves([&] { return Traffic{partials + result, result, partials / sizeof(T)}; });
    run(name, add_chunks_kernel<T>, grid::Shape{{columns}, {threads}}, static_cast<int>(chunks), d, to,
        static_cast<const T*>(partial), sums);
}

template <class T>
struct ColumnEntry {
    std::size_t d;
    Rounding to;
    const T* x;
    NORMSCOPE_SHARED_CODE T operator()(int r, int column) const {
        const T v = x[static_cast<std::size_t>(r) * d + static_cast<std::size_t>(column)];
        if constexpr (std::is_same_v<T, float>) return rounded(to, v);
        return v;
    }
    Traffic moves() const { return {sizeof(T), 0, 1}; }
};
template <class T>
struct ColumnProduct {
    std::size_t d;
    const T *a, *x, *y;
    NORMSCOPE_SHARED_CODE T operator()(int r, int column) const {
        const std::size_t i = static_cast<std::size_t>(r) * d + static_cast<std::size_t>(column);
        return x[i] * y[i] * value_of(a);
    }
    Traffic moves() const { return {2 * sizeof(T), 0, 3}; }
};
/// to[columns, rows] = from[rows, columns] transposed.
template <class T>
struct Transpose {
    std::size_t rows, columns;
    const T* from;
    T* to;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        to[i] = from[i % rows * columns + i / rows];
    }
    Traffic moves() const { return {sizeof(T), sizeof(T), 0}; }
};

template <class T>
void CudaLayerOps<T>::linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) {
    if (R > 0) gemm_.linear(R, out, in, x, w.weight, w.bias, y);
}
template <class T>
void CudaLayerOps<T>::linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) {
    if (R > 0) gemm_.multiply({Form::Nn, R, in, out, {dy, out}, {weight, in}, {dx, in}});
}
template <class T>
void CudaLayerOps<T>::linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh,
                                             T* dW) {
    gemm_.multiply({Form::Tn, out, in, R, {dy, out}, {x, in}, {dW, in}, 1, T(1), fresh ? T(0) : T(1)});
}
template <class T>
void CudaLayerOps<T>::column_sums(int R, int d, const T* x, T* sums) {
    const auto width = static_cast<std::size_t>(d);
    if (rounding_ == Rounding::None || policy_ == PrecisionPolicy::Pure) {
        add_columns("column_sums", R, d, ColumnEntry<T>{width, Rounding::None, x}, sums);
        return round_pure(width, sums);
    }
    // Autocast: the rounded sum of rounded rows, added in float32.
    add_columns("column_sums", R, d, ColumnEntry<T>{width, rounding_, x}, sums, rounding_);
}
template <class T>
void CudaElementwiseOps<T>::column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) {
    add_columns("column_products", R, d, ColumnProduct<T>{static_cast<std::size_t>(d), a, x, y}, sums);
    round_pure(static_cast<std::size_t>(d), sums);
}
template <class T>
void CudaLayerOps<T>::transpose_weight(int out, int in, const T* weight, T* transposed) {
    each("transpose_weight", area(out, in),
         Transpose<T>{static_cast<std::size_t>(out), static_cast<std::size_t>(in), weight, transposed});
    if (policy_ == PrecisionPolicy::Autocast) round_low(area(out, in), transposed);
}
template <class T>
void CudaLayerOps<T>::round_weights(std::size_t count, T* weights) {
    round_pure(count, weights);
}

}  // namespace normscope::cuda
