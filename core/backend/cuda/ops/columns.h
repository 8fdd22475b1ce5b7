// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: sums over rows, and the linear layers.
#pragma once

#include "core/backend/cuda/ops/block_reduce.h"
#include "core/backend/cuda/ops/elementwise.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

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
NORMSCOPE_KERNEL void column_chunks_kernel(int rows, int d, Term term, T* partial) {
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
    const int first = static_cast<int>(blockIdx.y) * kChunkRows;
    const int end = first + kChunkRows < rows ? first + kChunkRows : rows;
    const T sum = block_column_sum<T>(first, end, d, column, term);
    if (threadIdx.x < 32 && column < d)
        partial[static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(d) +
                static_cast<std::size_t>(column)] = sum;
}

/// Sums of one launch, by value; the blocks of sum i begin at block first[i].
struct ChunkSums {
    static constexpr int most = 64;
    ChunkSum at[most];
    unsigned first[most];
    int count;
};
template <class V>
__device__ inline void add_chunks_of_block(const ChunkSum& s, unsigned block) {
    const std::size_t column = static_cast<std::size_t>(block) * 32 + threadIdx.x % 32;
    const V* const partial = static_cast<const V*>(s.partial) + column;
    const auto chunk = [&](int k, int) { return partial[static_cast<std::size_t>(k) * s.stride]; };
    V sum = block_column_sum<V>(0, s.chunks, 1, column < s.width ? 0 : 1, chunk);
    if constexpr (std::is_same_v<V, float>) sum = rounded(s.to, sum);
    if (threadIdx.x < 32 && column < s.width) static_cast<V*>(s.sums)[column] += sum;
}
NORMSCOPE_KERNEL void add_chunks_kernel(ChunkSums all) {
    int i = 0;
    while (i + 1 < all.count && all.first[i + 1] <= blockIdx.x) ++i;
    if (all.at[i].wide && all.at[i].width == 1) {  // of many chunks: a sum of squares
        const ChunkSum& s = all.at[i];
        const double sum = block_sum(s.chunks, static_cast<const double*>(s.partial), s.stride);
        if (threadIdx.x == 0) *static_cast<double*>(s.sums) += sum;
    } else if (all.at[i].wide)
        add_chunks_of_block<double>(all.at[i], blockIdx.x - all.first[i]);
    else
        add_chunks_of_block<float>(all.at[i], blockIdx.x - all.first[i]);
}

template <class T>
void* CudaCalls<T>::partial_sums(std::size_t bytes) {
    constexpr std::size_t line = 256;
    bytes = (bytes + line - 1) / line * line;
    if (!delays()) return context_.workspace(Work::Columns, bytes);
    DelayedSums& sums = context_.sums();
    sums.requested += bytes;
    if (sums.used + bytes > sums.capacity) {
        finish_delayed();
        sums.capacity = std::max(sums.capacity, bytes);
    }
    auto* const memory = static_cast<unsigned char*>(context_.workspace(Work::Delayed, sums.capacity));
    return memory + std::exchange(sums.used, sums.used + bytes);
}

template <class T>
void CudaCalls<T>::add_chunks(const std::vector<ChunkSum>& sums) {
    for (std::size_t done = 0; done < sums.size();) {
        ChunkSums some{};
        unsigned blocks = 0;
        Traffic traffic;
        for (; done < sums.size() && some.count < ChunkSums::most; ++done) {
            const ChunkSum& sum = sums[done];
            const double width = static_cast<double>(sum.width), size = static_cast<double>(sum.size());
            traffic = traffic + Traffic{(sum.chunks + 1) * width * size, width * size, sum.chunks * width};
            some.first[some.count] = blocks;
            some.at[some.count++] = sum;
            blocks += blocks_for(sum.width, 32);
        }
        moves([&] { return traffic; });
        run("add_chunks", kernel_of<add_chunks_kernel>, grid::Shape{{blocks}, {32 * kColumnWarps}}, some);
    }
}

template <class T>
void CudaCalls<T>::finish_delayed() {
    add_chunks(context_.sums().waiting);
    context_.sums().drop();
}

template <class T>
void CudaCalls<T>::add_later(const ChunkSum& sum) {
    if (!delays()) return add_chunks({sum});
    DelayedSums& sums = context_.sums();
    // Of two sums into one place the earlier is added first; the partial sums of this one stay in use.
    if (std::any_of(sums.waiting.begin(), sums.waiting.end(),
                    [&](const ChunkSum& s) { return s.overlaps(sum); })) {
        const std::size_t used = sums.used;
        finish_delayed();
        sums.used = used;
    }
    sums.waiting.push_back(sum);
}

template <class T>
template <class Term>
void CudaCalls<T>::add_columns(const char* name, int rows, int d, Term term, T* sums, Rounding to) {
    if (rows == 0 || d == 0) return;
    const unsigned chunks = blocks_for(static_cast<std::size_t>(rows), kChunkRows);
    const auto width = static_cast<unsigned>(d);
    T* const partial = partials<T>(static_cast<std::size_t>(chunks) * width);
    const double written = static_cast<double>(chunks) * d * sizeof(T);
    moves([&] { return term.moves() * (static_cast<double>(rows) * d) + Traffic{0, written, 0}; });
    run(name, kernel_of<column_chunks_kernel<T, Term>>,
        grid::Shape{{blocks_for(width, 32), chunks}, {32 * kColumnWarps}}, rows, d, term, partial);
    add_later(ChunkSum::of(partial, sums, chunks, width, width, to));
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
/// x ∘ y, stored and summed.
template <class T>
struct ColumnOfProduct {
    std::size_t d;
    Rounding stored, summed;
    const T *x, *y;
    T* out;
    NORMSCOPE_SHARED_CODE T operator()(int r, int column) const {
        const std::size_t i = static_cast<std::size_t>(r) * d + static_cast<std::size_t>(column);
        T v = x[i] * y[i];
        if constexpr (std::is_same_v<T, float>) v = rounded(stored, v);
        out[i] = v;
        if constexpr (std::is_same_v<T, float>) return rounded(summed, v);
        return v;
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 2}; }
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
    if (R > 0) gemm_.linear({R, out, in, x, w.weight, w.bias, y});
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
void CudaCalls<T>::tiled_vjp(Rounding operands, const AttentionShape& shape, int sequences, int directions,
                             const float* scale, const TiledAttention::Tape& tape,
                             TiledAttention::Rows dmixed, TiledAttention::Rows dqkv, float* bias) {
    const TiledAttention& tiled = tiled_attention(operands);
    const unsigned chunks = tiled.sum_chunks(shape, sequences), width = static_cast<unsigned>(shape.width());
    float* const sums = bias ? partials<float>(static_cast<std::size_t>(chunks) * width) : nullptr;
    tiled.vjp(context_, shape, sequences, directions, scale, tape, dmixed, dqkv, sums);
    if (bias) add_later(ChunkSum::of(sums, bias, chunks, width, width, operands));
}

/// Partial sums are kept in up to this memory, whose size is that of the pass before.
inline constexpr std::size_t kDelayedBytes = std::size_t{64} << 20;
template <class T>
void CudaElementwiseOps<T>::delay_sums() {
    DelayedSums& sums = context_.sums();
    sums.drop();  // what a pass that failed has left
    sums.requested = 0;
    sums.delayed = true;
}
template <class T>
void CudaElementwiseOps<T>::finish_sums() {
    finish_delayed();
    DelayedSums& sums = context_.sums();
    sums.delayed = false;
    sums.capacity = std::max(sums.capacity, std::min(sums.requested, kDelayedBytes));
    if (sums.capacity > 0) context_.workspace(Work::Delayed, sums.capacity);
}

template <class T>
void CudaElementwiseOps<T>::multiply_rows(int R, int d, const T* x, const T* y, T* out, T* sums) {
    const auto width = static_cast<std::size_t>(d);
    const Rounding summed = this->rounds_pure() ? Rounding::None : rounding_;
    add_columns("multiply", R, d, ColumnOfProduct<T>{width, rounding_, summed, x, y, out}, sums, summed);
    round_pure(width, sums);
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
