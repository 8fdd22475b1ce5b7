// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid: what a GEMM library does to
// the entries of matrices whose rows are `ld` apart.
#pragma once

#include "core/backend/cuda/gemm.h"
#include "core/backend/cuda/impl/each.h"
#include "core/backend/cuda/short_format.h"

namespace normscope::cuda {

/// Entry i of `batch` matrices with rows of `columns`, counted densely.
struct StridedPlace {
    std::size_t columns, area, ld, stride;
    NORMSCOPE_SHARED_CODE std::size_t of(std::size_t i) const {
        return i / area * stride + i % area / columns * ld + i % columns;
    }
};
template <class P>
StridedPlace place_in(const Operand<P>& m, int rows, int columns) {
    const auto width = static_cast<std::size_t>(columns);
    return {width, static_cast<std::size_t>(rows) * width, static_cast<std::size_t>(m.ld), m.stride};
}

/// A copy in 16 bits.
struct ToShort {
    StridedPlace at, to_at;
    Rounding to;
    const float* from;
    std::uint16_t* copy;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        copy[to_at.of(i)] = to_16_bits(to, from[at.of(i)]);
    }
};
struct RoundStrided {
    StridedPlace place;
    Rounding to;
    float* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        x[place.of(i)] = rounded(to, x[place.of(i)]);
    }
};
/// x = beta·x + rounded(dense).
struct AddRounded {
    StridedPlace place;
    Rounding to;
    float beta;
    const float* dense;
    float* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        x[place.of(i)] = beta * x[place.of(i)] + rounded(to, dense[i]);
    }
};
/// A bias on rows of `columns`. Pure: y is rounded, then the sum. Else the bias is rounded, then the sum.
struct AddBiasRounded {
    std::size_t columns;
    Rounding to;
    bool pure;
    const float* bias;
    float* y;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const float b = bias[i % columns];
        y[i] = rounded(to, pure ? rounded(to, y[i]) + b : y[i] + rounded(to, b));
    }
};
/// x = beta·x, with beta 0 without reading x.
template <class T>
struct ScaleStrided {
    StridedPlace place;
    T beta;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        T& entry = x[place.of(i)];
        entry = beta == T(0) ? T(0) : beta * entry;
    }
};
/// A bias on rows of `columns`.
template <class T>
struct AddBias {
    std::size_t columns;
    const T* bias;
    T* y;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const { y[i] += bias[i % columns]; }
};

/// body(i) for i = 0 … count − 1 in this queue.
template <class Body>
void each_in(const Queue& queue, const char* name, std::size_t count, Body body) {
    if (count == 0) return;
    launch(queue, name, each_kernel<Body>,
           grid::Shape{{blocks_for(count, kThreads * kEntriesPerThread)}, {kThreads}}, count, body);
}

}  // namespace normscope::cuda
