// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: what a GEMM library does to
// the entries of matrices whose rows are `ld` apart.
#pragma once

#include "core/backend/cuda/launch/gemm.h"
#include "core/backend/cuda/launch/short_format.h"
#include "core/backend/cuda/ops/each.h"

namespace normscope::cuda {

/// An entry of a batch of matrices.
struct Entry {
    unsigned matrix, row, column;
};
/// Where entries are.
struct StridedPlace {
    std::size_t ld, stride;
    NORMSCOPE_SHARED_CODE std::size_t of(const Entry& e) const {
        return e.matrix * stride + e.row * ld + e.column;
    }
};
template <class P>
StridedPlace place_in(const Operand<P>& m) {
    return {static_cast<std::size_t>(m.ld), m.stride};
}

/// A copy in 16 bits.
struct ToShort {
    StridedPlace at, to_at;
    Rounding to;
    const float* from;
    std::uint16_t* copy;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const {
        copy[to_at.of(e)] = to_16_bits(to, from[at.of(e)]);
    }
    Traffic moves() const { return {4, 2, 1}; }
};
struct RoundStrided {
    StridedPlace place;
    Rounding to;
    float* x;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const {
        const std::size_t i = place.of(e);
        x[i] = rounded(to, x[i]);
    }
    Traffic moves() const { return {4, 4, 1}; }
};
/// x = beta·x + rounded(product).
struct AddRounded {
    StridedPlace product_at, place;
    Rounding to;
    float beta;
    const float* product;
    float* x;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const {
        const std::size_t i = place.of(e);
        x[i] = beta * x[i] + rounded(to, product[product_at.of(e)]);
    }
    Traffic moves() const { return {8, 4, 3}; }
};
/// A bias on each row. Pure: y is rounded, then the sum. Else the bias is rounded, then the sum.
struct AddBiasRounded {
    StridedPlace place;
    Rounding to;
    bool pure;
    const float* bias;
    float* y;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const {
        const std::size_t i = place.of(e);
        const float b = bias[e.column];
        y[i] = rounded(to, pure ? rounded(to, y[i]) + b : y[i] + rounded(to, b));
    }
    Traffic moves() const { return {4, 4, 3}; }
};
/// x = beta·x, with beta 0 without reading x.
template <class T>
struct ScaleStrided {
    StridedPlace place;
    T beta;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const {
        T& entry = x[place.of(e)];
        entry = beta == T(0) ? T(0) : beta * entry;
    }
    Traffic moves() const { return {beta == T(0) ? 0.0 : sizeof(T), sizeof(T), 1}; }
};
template <class T>
struct AddBias {
    StridedPlace place;
    const T* bias;
    T* y;
    NORMSCOPE_SHARED_CODE void operator()(const Entry& e) const { y[place.of(e)] += bias[e.column]; }
    Traffic moves() const { return {sizeof(T), sizeof(T), 1}; }
};

inline constexpr unsigned kRowsPerThread = 4;

/// body(entry) for matrices of this many rows, all_rows in total. A warp is along a row, as far as that is
/// long enough.
template <class Body>
NORMSCOPE_KERNEL void entries_kernel(unsigned rows, unsigned all_rows, unsigned columns, Body body) {
    for (unsigned k = 0; k < kRowsPerThread; ++k) {
        const unsigned at = (blockIdx.x * kRowsPerThread + k) * blockDim.y + threadIdx.y;
        if (at >= all_rows) return;
        const unsigned matrix = at / rows, row = at % rows;
        for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) body(Entry{matrix, row, c});
    }
}

/// body(entry) for each of `batch` matrices [rows, columns] in this queue.
template <class Body>
void each_entry(const Queue& queue, const char* name, int rows, int columns, int batch, Body body) {
    if (rows == 0 || columns == 0 || batch == 0) return;
    const unsigned height = static_cast<unsigned>(rows), width = static_cast<unsigned>(columns),
                   all_rows = height * static_cast<unsigned>(batch);
    unsigned along = 1;
    while (along < width && along < kThreads / 2) along *= 2;
    const unsigned across = std::min(kThreads / along, blocks_for(all_rows, kRowsPerThread));
#if !defined(__CUDACC__)
    state_entries(queue.log, body, static_cast<double>(all_rows) * width);
#endif
    launch(queue, name, kernel_of<entries_kernel<Body>>,
           grid::Shape{{blocks_for(all_rows, across * kRowsPerThread)}, {along, across}}, height, all_rows,
           width, body);
}

}  // namespace normscope::cuda
