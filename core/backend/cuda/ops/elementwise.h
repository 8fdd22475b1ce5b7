// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: what computes each entry from entries at its place.
#pragma once

#include "core/backend/cuda/ops/each.h"
#include "core/backend/row/activation.h"
#include "core/backend/row/elementwise.h"
#include "core/backend/row/gated.h"
#include "core/backend/row/soft_cap.h"

namespace normscope::cuda {

template <class T>
struct EachCoefficients {
    const CoefficientRule* rules;
    PassRule rule;
    const Numerics* numbers;
    const T* parameters;
    PassCoefficients<T>* pass;
    SublayerCoefficients<T>* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        if (i == 0) *pass = whole_pass_coefficients<T>(*numbers, rule);
        // Two statements: GCC does not instrument a call's store of its result.
        const SublayerCoefficients<T> coefficients = sublayer_coefficients<T>(rules[i], *numbers, parameters);
        out[i] = coefficients;
    }
    Traffic moves() const { return {sizeof(CoefficientRule), sizeof(SublayerCoefficients<T>), 10}; }
};
template <class T, Activation A>
struct Activate {
    const T* h;
    T *a, *slope;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const auto at = row::activation<Serial<T>, A>(h[i]);
        a[i] = at.value;
        slope[i] = at.slope;
    }
    Traffic moves() const { return Traffic{1, 2, 10 / sizeof(T)} * sizeof(T); }
};
template <class T>
struct Multiply {
    const T *x, *y;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::multiply<Serial<T>>(1, 1, x + i, y + i, out + i);
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 1}; }
};
template <class T>
struct Axpby {
    const T *a, *x, *b, *y;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::axpby<Serial<T>>(1, value_of(a), x + i, value_of(b), y + i, out + i);
    }
    Traffic moves() const { return {(y == x ? 1.0 : 2.0) * sizeof(T), sizeof(T), 3}; }
};
template <class T>
struct Scale {
    const T *a, *x;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::scale<Serial<T>>(1, value_of(a), x + i, out + i);
    }
    Traffic moves() const { return {sizeof(T), sizeof(T), 1}; }
};
template <class T>
struct ScaleColumns {
    std::size_t d;
    const T *w, *x;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::multiply<Serial<T>>(1, 1, w + i % d, x + i, out + i);
    }
    Traffic moves() const { return {sizeof(T), sizeof(T), 1}; }
};
template <class T, Activation A>
struct Gated {
    std::size_t width;
    const T* pre;
    T* a;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const T* g = pre + i / width * 2 * width + i % width;
        row::gated<Serial<T>, A>(1, g, g + width, a + i);
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 8}; }
};
template <class T, Activation A>
struct GatedVjp {
    std::size_t width;
    const T *pre, *da;
    T* dpre;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const std::size_t at = i / width * 2 * width + i % width;
        row::gated_backward<Serial<T>, A>(1, pre + at, pre + at + width, da + i, dpre + at,
                                          dpre + at + width);
    }
    Traffic moves() const { return {3 * sizeof(T), 2 * sizeof(T), 14}; }
};
template <class T, Activation A>
struct GatedJvp {
    std::size_t width;
    const T *pre, *tpre;
    T* ta;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const std::size_t at = i / width * 2 * width + i % width;
        row::gated_tangent<Serial<T>, A>(1, pre + at, pre + at + width, tpre + at, tpre + at + width, ta + i);
    }
    Traffic moves() const { return {4 * sizeof(T), sizeof(T), 14}; }
};
template <class T>
struct SoftCap {
    T cap;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const { row::soft_cap<Serial<T>>(1, cap, x + i); }
    Traffic moves() const { return {sizeof(T), sizeof(T), 4}; }
};
template <class T>
struct SoftCapVjp {
    T cap;
    const T *y, *g;
    T* out;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::soft_cap_derivative<Serial<T>>(1, cap, y + i, g + i, out + i);
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 4}; }
};
/// kBlocksPerPiece blocks for each piece of an arena, the last ones for the numbers.
template <class T>
__device__ inline void zero_by_block(unsigned block, const ArenaPiece* pieces, int count, T* arena,
                                     int others, double* numbers) {
    const std::size_t stride = static_cast<std::size_t>(kBlocksPerPiece) * blockDim.x,
                      begin = static_cast<std::size_t>(block % kBlocksPerPiece) * blockDim.x + threadIdx.x;
    const auto clear = [=](auto* from, std::size_t entries) {
        for (std::size_t i = begin; i < entries; i += stride) from[i] = 0;
    };
    const int piece = static_cast<int>(block / kBlocksPerPiece);
    if (piece < count)
        clear(arena + pieces[piece].offset, pieces[piece].count);
    else
        clear(numbers, static_cast<std::size_t>(others));
}
template <class T>
NORMSCOPE_KERNEL void zero_kernel(const ArenaPiece* pieces, int count, T* arena, int others,
                                  double* numbers) {
    zero_by_block(blockIdx.x, pieces, count, arena, others, numbers);
}
template <class T>
Traffic zero_traffic(const ArenaPiece* pieces, int count, int others) {
    return {0, entries_of(pieces, 0, count) * sizeof(T) + others * static_cast<double>(sizeof(double)), 0};
}

inline std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

/// Of rotary positions: the first heads of rows, cosines and sines of `tokens` positions; bytes of an entry.
inline Traffic rotation_traffic(int rows, int heads, int dh, int tokens, double size) {
    const double entries = static_cast<double>(rows) * heads * dh;
    return {entries * size + static_cast<double>(tokens) * dh * sizeof(float), entries * size, 3 * entries};
}

template <class T>
void CudaElementwiseOps<T>::pass_coefficients(int sublayers, const CoefficientRule* rules, PassRule rule,
                                              const Numerics* numbers, const T* parameters,
                                              PassCoefficients<T>* pass, SublayerCoefficients<T>* out) {
    each("pass_coefficients", static_cast<std::size_t>(sublayers),
         EachCoefficients<T>{rules, rule, numbers, parameters, pass, out});
}

template <class T>
void CudaElementwiseOps<T>::copy(std::size_t count, const T* from, T* to) {
    copy_values(count, from, to);
}
template <class T>
void CudaElementwiseOps<T>::zero(const ArenaPiece* pieces, int count, T* arena, int others, double* numbers) {
    if (count == 0 && others == 0) return;
    moves([&] { return zero_traffic<T>(pieces, count, others); });
    run("zero", kernel_of<zero_kernel<T>>,
        grid::Shape{{static_cast<unsigned>(count + 1) * kBlocksPerPiece}, {kThreads}}, pieces, count, arena,
        others, numbers);
}

template <class T>
void CudaElementwiseOps<T>::activation(Activation kind, std::size_t count, const T* h, T* a, T* slope) {
    switch (kind) {
        case Activation::GeluTanh:
            each("activation", count, Activate<T, Activation::GeluTanh>{h, a, slope});
            break;
        case Activation::GeluErf:
            each("activation", count, Activate<T, Activation::GeluErf>{h, a, slope});
            break;
        case Activation::Relu:
            each("activation", count, Activate<T, Activation::Relu>{h, a, slope});
            break;
        case Activation::Silu:
        case Activation::SwiGlu:
            each("activation", count, Activate<T, Activation::Silu>{h, a, slope});
            break;
        case Activation::GeGlu:
            each("activation", count, Activate<T, Activation::GeluTanh>{h, a, slope});
            break;
    }
    round_low(count, a);
}
template <class T>
void CudaElementwiseOps<T>::multiply(std::size_t count, const T* x, const T* y, T* out) {
    each("multiply", count, Multiply<T>{x, y, out});
    round_low(count, out);
}
template <class T>
void CudaElementwiseOps<T>::gated(Activation kind, int R, int width, const T* pre, T* a) {
    row::with_gate(kind, [&](auto gate) {
        this->each("gated", area(R, width), Gated<T, gate>{static_cast<std::size_t>(width), pre, a});
    });
    round_low(area(R, width), a);
}
template <class T>
void CudaElementwiseOps<T>::gated_vjp(Activation kind, int R, int width, const T* pre, const T* da, T* dpre) {
    row::with_gate(kind, [&](auto gate) {
        this->each("gated_vjp", area(R, width),
                   GatedVjp<T, gate>{static_cast<std::size_t>(width), pre, da, dpre});
    });
    round_low(area(R, 2 * width), dpre);
}
template <class T>
void CudaElementwiseOps<T>::gated_jvp(Activation kind, int R, int width, const T* pre, const T* tpre, T* ta) {
    row::with_gate(kind, [&](auto gate) {
        this->each("gated_jvp", area(R, width),
                   GatedJvp<T, gate>{static_cast<std::size_t>(width), pre, tpre, ta});
    });
    round_low(area(R, width), ta);
}
template <class T>
void CudaElementwiseOps<T>::axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) {
    each("axpby", count, Axpby<T>{a, x, b, y, out});
    round_pure(count, out);
}
template <class T>
void CudaElementwiseOps<T>::scale(std::size_t count, const T* a, const T* x, T* out) {
    each("scale", count, Scale<T>{a, x, out});
    round_pure(count, out);
}
template <class T>
void CudaElementwiseOps<T>::scale_columns(int R, int d, const T* w, const T* x, T* out) {
    each("scale_columns", area(R, d), ScaleColumns<T>{static_cast<std::size_t>(d), w, x, out});
    round_pure(area(R, d), out);
}
template <class T>
void CudaElementwiseOps<T>::soft_cap(std::size_t count, T cap, T* x) {
    each("soft_cap", count, SoftCap<T>{cap, x});
    round_low(count, x);
}
template <class T>
void CudaElementwiseOps<T>::soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) {
    each("soft_cap_vjp", count, SoftCapVjp<T>{cap, y, g, out});
    round_low(count, out);
}

}  // namespace normscope::cuda
