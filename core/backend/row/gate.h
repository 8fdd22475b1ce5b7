// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/shared_code.h"
#include "core/stack/stack_spec.h"

#include <cmath>

namespace normscope {

// GPAS: P_g(x) = x − act(g)·sg(x) ([G] §3). Forward it multiplies by 1 − act(g); backward, with
// stop-gradient, by 1. One scalar per layer, in float64.

namespace gate {
inline constexpr double kLeak = 0.01;
NORMSCOPE_SHARED_CODE inline double logistic(double v) {
    return 1 / (1 + std::exp(-v));
}
/// x·σ(slope·x), SiLU with a slope.
NORMSCOPE_SHARED_CODE inline double silu(double g, double slope) {
    return g * logistic(slope * g);
}
NORMSCOPE_SHARED_CODE inline double silu_derivative(double g, double slope) {
    const double s = logistic(slope * g);
    return s * (1 + slope * g * (1 - s));
}
}  // namespace gate

/// act(g).
NORMSCOPE_SHARED_CODE inline double gate_activation(GateActivation kind, double g) {
    switch (kind) {
        case GateActivation::Silu:
            return gate::silu(g, 1);
        case GateActivation::Identity:
            return g;
        case GateActivation::Relu:
            return g > 0 ? g : 0;
        case GateActivation::LeakyRelu:
            return g > 0 ? g : gate::kLeak * g;
        case GateActivation::Tanh:
            return std::tanh(g);
        case GateActivation::Silu8:
            return gate::silu(g, 8);
    }
    return 0;
}

/// act'(g).
NORMSCOPE_SHARED_CODE inline double gate_derivative(GateActivation kind, double g) {
    switch (kind) {
        case GateActivation::Silu:
            return gate::silu_derivative(g, 1);
        case GateActivation::Identity:
            return 1;
        case GateActivation::Relu:
            return g > 0 ? 1 : 0;
        case GateActivation::LeakyRelu:
            return g > 0 ? 1 : gate::kLeak;
        case GateActivation::Tanh:
            return 1 - std::tanh(g) * std::tanh(g);
        case GateActivation::Silu8:
            return gate::silu_derivative(g, 8);
    }
    return 0;
}

}  // namespace normscope
