// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: sums over many entries, in float64. Each block
// reduces a chunk of fixed size, one block the chunks, by the same tree: the order depends on the count
// alone.
#pragma once

#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/ops/columns.h"

#include <cstdint>

namespace normscope::cuda {

inline constexpr std::size_t kReductionChunk = 4096;

template <class Op, class Term>
NORMSCOPE_KERNEL void chunks_kernel(std::size_t count, Term term, typename Op::value* partial) {
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * kReductionChunk;
    const std::size_t end = count - begin < kReductionChunk ? count : begin + kReductionChunk;
    typename Op::value v = Op::none();
    for (std::size_t i = begin + threadIdx.x; i < end; i += kThreads) v = Op{}(v, term(i));
    v = block_reduce<Op>(v);
    if (threadIdx.x == 0) partial[blockIdx.x] = v;
}

template <class Op, class Finish>
NORMSCOPE_KERNEL void finish_kernel(unsigned chunks, const typename Op::value* partial, Finish finish) {
    typename Op::value v = Op::none();
    for (unsigned i = threadIdx.x; i < chunks; i += kThreads) v = Op{}(v, partial[i]);
    v = block_reduce<Op>(v);
    if (threadIdx.x == 0) finish(v);
}

/// Both, of one chunk.
template <class Term, class Finish>
NORMSCOPE_KERNEL void reduce_kernel(std::size_t count, Term term, Finish finish) {
    using Op = typename Term::op;
    typename Op::value v = Op::none();
    for (std::size_t i = threadIdx.x; i < count; i += kThreads) v = Op{}(v, term(i));
    v = block_reduce<Op>(v);
    if (threadIdx.x == 0) finish(v);
}

template <class T>
template <class Term, class Finish>
void CudaCalls<T>::reduce(const char* name, std::size_t count, Term term, Finish finish) {
    using Op = typename Term::op;
    using Value = typename Op::value;
    const unsigned chunks = blocks_for(count, kReductionChunk);
    if (chunks == 1) {
        moves([&] {
            return term.moves() * static_cast<double>(count) + Traffic{sizeof(double), sizeof(double), 0};
        });
        return run(name, kernel_of<reduce_kernel<Term, Finish>>, grid::Shape{{1}, {kThreads}}, count, term,
                   finish);
    }
    Value* partial =
        static_cast<Value*>(context_.workspace(Work::Reduction, sizeof(Value) * (chunks > 0 ? chunks : 1)));
    const double partials = static_cast<double>(chunks) * sizeof(Value);
    if (chunks > 0)
        moves([&] { return term.moves() * static_cast<double>(count) + Traffic{0, partials, 0}; });
    if (chunks > 0)
        run(name, kernel_of<chunks_kernel<Op, Term>>, grid::Shape{{chunks}, {kThreads}}, count, term,
            partial);
    moves([&] { return Traffic{partials + 2 * sizeof(double), sizeof(double), partials / sizeof(Value)}; });
    run(name, kernel_of<finish_kernel<Op, Finish>>, grid::Shape{{1}, {kThreads}}, chunks, partial, finish);
}

/// Σ x² over the entries begin + threadIdx.x, … of a block of kThreads threads, several loads in flight.
template <class T>
__device__ inline double sum_of_squares(std::size_t begin, std::size_t end, const T* x) {
    constexpr int flying = 8;
    double sum = 0;
    std::size_t i = begin + threadIdx.x;
    for (; i + (flying - 1) * kThreads < end; i += flying * kThreads) {
        T v[flying];
        NORMSCOPE_UNROLL
        for (int k = 0; k < flying; ++k) v[k] = x[i + static_cast<std::size_t>(k) * kThreads];
        NORMSCOPE_UNROLL
        for (int k = 0; k < flying; ++k) sum += static_cast<double>(v[k]) * static_cast<double>(v[k]);
    }
    for (; i < end; i += kThreads) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

template <class T>
struct Dot {
    using op = Sum;
    const T *x, *y;
    NORMSCOPE_SHARED_CODE double operator()(std::size_t i) const {
        return static_cast<double>(x[i]) * static_cast<double>(y[i]);
    }
    Traffic moves() const { return {(x == y ? 1.0 : 2.0) * sizeof(T), 0, 2}; }
};
template <class T>
struct Values {
    using op = Sum;
    const T* x;
    NORMSCOPE_SHARED_CODE double operator()(std::size_t i) const { return static_cast<double>(x[i]); }
    Traffic moves() const { return {sizeof(T), 0, 1}; }
};
template <class T>
struct NotFinite {
    using op = Least;
    const T* x;
    NORMSCOPE_SHARED_CODE long long operator()(std::size_t i) const {
        return x[i] - x[i] == T(0) ? Least::none() : static_cast<long long>(i);
    }
    Traffic moves() const { return {sizeof(T), 0, 1}; }
};

template <class T>
struct AddProduct {
    const double* factor;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(double total) const { *out += static_cast<T>(*factor * total); }
};
struct AddOver {
    double count, divisor;
    double* out;
    NORMSCOPE_SHARED_CODE void operator()(double total) const { *out += total / count / divisor; }
};
struct Store {
    double* out;
    NORMSCOPE_SHARED_CODE void operator()(double total) const { *out = total; }
};
struct RootOver {
    const double* divisor;
    double* norm;
    NORMSCOPE_SHARED_CODE void operator()(double total) const {
        *norm = std::sqrt(total) / (divisor ? *divisor : 1);
    }
};
struct StorePlace {
    std::int64_t* place;
    NORMSCOPE_SHARED_CODE void operator()(long long first) const {
        *place = first == Least::none() ? -1 : static_cast<std::int64_t>(first);
    }
};

/// Σ x² of a chunk of each array, partial [chunks, arrays].
template <class T>
NORMSCOPE_KERNEL void square_chunks_kernel(std::size_t count, std::size_t chunk, std::size_t stride,
                                           const T* x, double* partial) {
    x += blockIdx.y * stride;
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * chunk;
    const std::size_t end = count - begin < chunk ? count : begin + chunk;
    const double sum = block_reduce<Sum>(sum_of_squares(begin, end, x));
    if (threadIdx.x == 0) partial[blockIdx.x * gridDim.y + blockIdx.y] = sum;
}
/// Entries of a chunk: so many that there are few chunks, which warps of 32 columns add.
inline std::size_t square_chunk(std::size_t count) {
    constexpr std::size_t chunks = 128;
    return std::max(kReductionChunk, (count / chunks + kThreads) / kThreads * kThreads);
}

/// The shards' gradients, by value in a launch.
template <class T>
struct Shards {
    static constexpr int most = kSummedAtOnce;
    const T* at[most];
    int count;
};

/// total = Σ shards at each piece, and its Σ total². total may be the only shard, or null.
template <class T>
NORMSCOPE_KERNEL void sum_shards_kernel(const ArenaPiece* pieces, int first, Shards<T> shards, T* total,
                                        double* squares) {
    const int i = first + static_cast<int>(blockIdx.x);
    const ArenaPiece piece = pieces[i];
    double squared = 0;
    if (shards.count == 1 && (!total || total == shards.at[0])) {
        squared = sum_of_squares(0, piece.count, shards.at[0] + piece.offset);
    } else {
        for (std::size_t k = threadIdx.x; k < piece.count; k += kThreads) {
            T sum = shards.at[0][piece.offset + k];
            for (int s = 1; s < shards.count; ++s) sum += shards.at[s][piece.offset + k];
            if (total) total[piece.offset + k] = sum;
            squared += static_cast<double>(sum) * static_cast<double>(sum);
        }
    }
    squared = block_reduce<Sum>(squared);
    if (threadIdx.x == 0) squares[i] = squared;
}

template <class T>
Traffic sum_traffic(const ArenaPiece* pieces, int first, int end, int shards, bool sums) {
    const double entries = entries_of(pieces, first, end);
    return {entries * shards * sizeof(T) + (end - first) * static_cast<double>(sizeof(ArenaPiece)),
            (sums ? entries * sizeof(T) : 0) + (end - first) * static_cast<double>(sizeof(double)),
            entries * (shards + 1)};
}

template <class T>
void CudaElementwiseOps<T>::add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) {
    reduce("add_dot", count, Dot<T>{x, y}, AddProduct<T>{factor, out});
}
template <class T>
void CudaElementwiseOps<T>::add_squares(int arrays, std::size_t count, std::size_t stride, const T* x,
                                        double* out) {
    this->add_squares_of(arrays, count, stride, x, out);
}
template <class T>
void CudaCalls<T>::add_squares_of(int arrays, std::size_t count, std::size_t stride, const T* x,
                                  double* out) {
    if (arrays == 0 || count == 0) return;
    const std::size_t chunk = square_chunk(count);
    const unsigned chunks = blocks_for(count, chunk), all = static_cast<unsigned>(arrays);
    double* const partial = partials<double>(static_cast<std::size_t>(chunks) * all);
    moves([&] {
        const double entries = static_cast<double>(count) * arrays;
        return Traffic{entries * sizeof(T), static_cast<double>(chunks) * all * sizeof(double), 2 * entries};
    });
    run("add_squares", kernel_of<square_chunks_kernel<T>>, grid::Shape{{chunks, all}, {kThreads}}, count,
        chunk, stride, x, partial);
    add_later(ChunkSum::of(partial, out, chunks, all, all));
}
template <class T>
void CudaStepOps<T>::add_mean(std::size_t count, const T* x, double divisor, double* sum) {
    reduce("add_mean", count, Values<T>{x}, AddOver{static_cast<double>(count), divisor, sum});
}
template <class T>
void CudaStepOps<T>::piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena,
                                   double* squares) {
    if (end > first) moves([&] { return sum_traffic<T>(pieces, first, end, 1, false); });
    if (end > first)
        run("piece_squares", kernel_of<sum_shards_kernel<T>>, one_block_each(end - first), pieces, first,
            Shards<T>{{arena}, 1}, nullptr, squares);
}
template <class T>
void CudaStepOps<T>::sum_shards(const ArenaPiece* pieces, int first, int end, int count,
                                const T* const* shards, T* total, double* squares) {
    if (end <= first) return;
    Shards<T> some{};
    for (int s = 0; s < count;) {
        some.count = 0;
        if (s > 0) some.at[some.count++] = total;  // the sum of those before
        while (s < count && some.count < Shards<T>::most) some.at[some.count++] = shards[s++];
        moves([&] {
            const bool sums = total && !(some.count == 1 && total == some.at[0]);
            return sum_traffic<T>(pieces, first, end, some.count, sums);
        });
        run("sum_shards", kernel_of<sum_shards_kernel<T>>, one_block_each(end - first), pieces, first, some,
            total, squares);
    }
}
template <class T>
void CudaStepOps<T>::norm_of_squares(int count, const double* squares, const double* divisor, double* norm) {
    reduce("norm_of_squares", static_cast<std::size_t>(count), Values<double>{squares},
           RootOver{divisor, norm});
}
template <class T>
void CudaStepOps<T>::find_first_non_finite(std::size_t count, const T* x, std::int64_t* place) {
    reduce("find_first_non_finite", count, NotFinite<T>{x}, StorePlace{place});
}

}  // namespace normscope::cuda
