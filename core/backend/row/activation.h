// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "core/backend/lanes.h"
#include "core/stack/stack_spec.h"

namespace normscope::row {

/// Activations φ and their derivatives, entry by entry. GELU in its tanh form is written with the logistic function:
/// ½(1 + tanh u) = σ(2u), one exponential and no cancellation.
template <class L, Activation A>
struct ActivationMath {
    using vec = typename L::vec;
    using T = typename L::scalar;

    static inline __attribute__((always_inline)) vec logistic(vec v) {
        const T one = 1;
        return one / (one + L::exp(-v));
    }

    static inline __attribute__((always_inline)) vec value(vec h) {
        const T zero = 0, half = 0.5;
        if constexpr (A == Activation::Relu) {
            return L::larger(h, L::all(zero));
        } else if constexpr (A == Activation::Silu) {
            return h * logistic(h);
        } else if constexpr (A == Activation::GeluTanh) {
            return h * logistic(twice_u(h));
        } else {
            return h * half * L::map(h, [](T v) { return T(1) + std::erf(v * T(0.70710678118654752440)); });
        }
    }

    static inline __attribute__((always_inline)) vec derivative(vec h) {
        const T one = 1;
        if constexpr (A == Activation::Relu) {
            return L::map(h, [](T v) { return v > T(0) ? T(1) : T(0); });
        } else if constexpr (A == Activation::Silu) {
            const vec s = logistic(h);
            return s * (one + h * (one - s));
        } else if constexpr (A == Activation::GeluTanh) {
            const vec s = logistic(twice_u(h));
            return s + h * s * (one - s) * (kTwoC * (one + T(3 * kCubic) * h * h));
        } else {
            return L::map(h, [](T v) {
                return T(0.5) * (T(1) + std::erf(v * T(0.70710678118654752440))) +
                       v * T(0.39894228040143267794) * std::exp(T(-0.5) * v * v);
            });
        }
    }

  private:
    static constexpr double kCubic = 0.044715;
    static constexpr T kTwoC = T(2 * 0.79788456080286535588);  // 2√(2/π)
    static inline __attribute__((always_inline)) vec twice_u(vec h) { return kTwoC * (h + T(kCubic) * h * h * h); }
};

}  // namespace normscope::row
