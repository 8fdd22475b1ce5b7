// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gate.h"

#include <cmath>

namespace normscope {

namespace {
constexpr double kLeak = 0.01;
double logistic(double v) { return 1 / (1 + std::exp(-v)); }
/// x·σ(slope·x), SiLU with a slope.
double silu(double g, double slope) { return g * logistic(slope * g); }
double silu_derivative(double g, double slope) {
    const double s = logistic(slope * g);
    return s * (1 + slope * g * (1 - s));
}
}  // namespace

double gate_activation(GateActivation kind, double g) {
    switch (kind) {
        case GateActivation::Silu: return silu(g, 1);
        case GateActivation::Identity: return g;
        case GateActivation::Relu: return g > 0 ? g : 0;
        case GateActivation::LeakyRelu: return g > 0 ? g : kLeak * g;
        case GateActivation::Tanh: return std::tanh(g);
        case GateActivation::Silu8: return silu(g, 8);
    }
    return 0;
}

double gate_derivative(GateActivation kind, double g) {
    switch (kind) {
        case GateActivation::Silu: return silu_derivative(g, 1);
        case GateActivation::Identity: return 1;
        case GateActivation::Relu: return g > 0 ? 1 : 0;
        case GateActivation::LeakyRelu: return g > 0 ? 1 : kLeak;
        case GateActivation::Tanh: return 1 - std::tanh(g) * std::tanh(g);
        case GateActivation::Silu8: return silu_derivative(g, 8);
    }
    return 0;
}

}  // namespace normscope
