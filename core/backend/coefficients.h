// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/row/gate.h"
#include "core/backend/shared/shared_code.h"
#include "core/stack/stack_spec.h"

#include <cmath>
#include <cstddef>

namespace normscope {

// The coefficients of a pass. They are stored in device memory and computed there, in
// float64, once at the start of a pass (ElementwiseOps::pass_coefficients), from the values that the host
// sets (Numerics) and from parameters (gates, branch scales). So no pass reads a parameter on the host, and a
// knob needs no new graph on a device that has captured one.

/// Under GPAS with stop-gradient the back-propagated Jacobian differs from the derivative of the forward map:
/// per gate the factor is 1 instead of 1 − act(g) ([G] §3). Passes that multiply by a Jacobian select one.
enum class Jacobian { Backprop, Forward };

/// The values of the forward map that may change during a run; set by the host before a pass.
struct Numerics {
    double residual_step = 1;  ///< Δt
    double temperature = 1;    ///< τ
    double eps = 1e-5;         ///< of every norm, where none is raised (raise_eps)
};

/// What the coefficients of a whole pass are made of besides, fixed by the stack.
struct PassRule {
    int head_width;
    double embedding_scale = 1;
};

/// Which coefficients enter the sum of one sub-layer, fixed by the stack. Offsets count into the parameters.
struct CoefficientRule {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    double a = 1, b = 1, s_in = 1;
    std::size_t gate = kNone;   ///< of GPAS, where this sub-layer has one
    std::size_t scale = kNone;  ///< λ of the branch, if scalar
    GateSite site = GateSite::Auto;
    GateActivation activation = GateActivation::Silu;
    bool stops_gradient = true;
    bool second_of_parallel = false;  ///< its shortcut is the first sub-layer's
};

/// The coefficients of the whole pass.
template <class T>
struct PassCoefficients {
    T eps;              ///< of the norms on q and k; the others read Coefficients::eps
    T attention_scale;  ///< 1/(τ√d_h)
    T embedding_scale;
};

/// The coefficients of one sub-layer; g its gate.
template <class T>
struct SublayerCoefficients {
    T s_in;
    T gate;      ///< 1 − act(g)
    T shortcut;  ///< forward: a, times the gate at the shortcut; 1 in the second sub-layer of a parallel
                 ///< layer
    T branch;    ///< forward: Δt·b·λ where λ is a scalar, times the gate at the branch
    T shortcut_of[2];    ///< by Jacobian: a, times the gate's factor
    T branch_of[2];      ///< by Jacobian
    T scale_step;        ///< Δt·b times the gate at the branch: what ∂/∂λ is multiplied by
    double gate_slope;   ///< what Σ dy·(what is gated) is multiplied by to give ∂/∂g
    double scale_slope;  ///< scale_step in float64
};

/// Computes both; called once a sub-layer, in float64 throughout.
template <class T>
NORMSCOPE_SHARED_CODE SublayerCoefficients<T> sublayer_coefficients(const CoefficientRule& rule,
                                                                    const Numerics& numbers,
                                                                    const T* parameters) {
    double passed = 1, slope = 0;
    if (rule.gate != CoefficientRule::kNone) {
        const double g = static_cast<double>(parameters[rule.gate]);
        passed = 1 - gate_activation(rule.activation, g);
        slope = gate_derivative(rule.activation, g);
    }
    const auto value = [&](GateSite site) {
        return rule.gate != CoefficientRule::kNone && site == rule.site ? passed : 1;
    };
    const auto factor = [&](GateSite site, Jacobian kind) {
        return kind == Jacobian::Backprop && rule.stops_gradient ? 1 : value(site);
    };
    const double step = numbers.residual_step * rule.b;
    double branch = step;
    if (rule.scale != CoefficientRule::kNone) branch *= static_cast<double>(parameters[rule.scale]);

    SublayerCoefficients<T> c;
    c.s_in = static_cast<T>(rule.s_in);
    c.gate = static_cast<T>(passed);
    c.shortcut = static_cast<T>(rule.second_of_parallel ? 1 : rule.a * value(GateSite::Shortcut));
    c.branch = static_cast<T>(branch * value(GateSite::Branch));
    for (int i = 0; i < 2; ++i) {
        const Jacobian kind = static_cast<Jacobian>(i);
        c.shortcut_of[i] = static_cast<T>(rule.a * factor(GateSite::Shortcut, kind));
        c.branch_of[i] = static_cast<T>(branch * factor(GateSite::Branch, kind));
    }
    c.scale_slope = step * value(GateSite::Branch);
    c.scale_step = static_cast<T>(c.scale_slope);
    // The gate's output is (1 − act(g)) times its input, times these before the sum:
    const double times = rule.site == GateSite::Branch     ? branch
                         : rule.site == GateSite::Shortcut ? rule.a
                                                           : 1;
    c.gate_slope = -(slope * times);
    return c;
}

template <class T>
NORMSCOPE_SHARED_CODE PassCoefficients<T> whole_pass_coefficients(const Numerics& numbers,
                                                                  const PassRule& rule) {
    return {static_cast<T>(numbers.eps),
            static_cast<T>(1.0 / (numbers.temperature * std::sqrt(static_cast<double>(rule.head_width)))),
            static_cast<T>(rule.embedding_scale)};
}

}  // namespace normscope
