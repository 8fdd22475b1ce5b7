// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"
#include "core/stack/stack_spec.h"

#include <cmath>

namespace normscope::row {

template <class L>
struct ActivationAt {
    typename L::vec value, slope;  ///< φ(h), φ'(h)
};

/// An activation and its derivative at each entry of h; the compiler removes what is not read. GELU in its
/// tanh form is written with the logistic function: ½(1 + tanh u) = σ(2u), one exponential and no
/// cancellation.
template <class L, Activation A>
NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) ActivationAt<L> activation(typename L::vec h) {
    using T = typename L::scalar;
    const T one = 1;
    const auto logistic = [one](auto v) { return one / (one + L::exp(-v)); };
    if constexpr (A == Activation::Relu) {
        // In this order a NaN stays one.
        return {L::larger(L::all(0), h), L::map(h, [](T v) { return v > T(0) ? T(1) : T(0); })};
    } else if constexpr (A == Activation::Silu) {
        const auto s = logistic(h);
        return {h * s, s * (one + h * (one - s))};
    } else if constexpr (A == Activation::GeluTanh) {
        constexpr double cubic = 0.044715;
        constexpr T two_c = T(2 * 0.79788456080286535588);  // 2√(2/π)
        const auto s = logistic(two_c * (h + T(cubic) * h * h * h));
        return {h * s, s + h * s * (one - s) * (two_c * (one + T(3 * cubic) * h * h))};
    } else {
        const auto normal =
            L::map(h, [](T v) { return T(0.5) * (T(1) + std::erf(v * T(0.70710678118654752440))); });
        const auto density =
            L::map(h, [](T v) { return T(0.39894228040143267794) * std::exp(T(-0.5) * v * v); });
        return {h * normal, normal + h * density};
    }
}

}  // namespace normscope::row
