// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/pass.h"
#include "core/stack/scheme.h"

namespace normscope {

// The properties of a sub-layer that follow from the stack alone. The values are coefficients of the device
// (core/backend/coefficients.h).

/// The offsets of a sub-layer's tensors; sub-layers count as in sublayer.h.
inline const SublayerOffsets& offsets(const ParameterTable& table, int index) {
    if (index % 2 == 0) return table.attention[static_cast<std::size_t>(index / 2)];
    return table.feed_forward[static_cast<std::size_t>(index / 2)];
}

/// In a parallel layer the first sub-layer is attention, the second the feed-forward map; a serial layer has
/// neither.
inline bool second_of_parallel(const StackSpec& spec, int index) {
    return spec.layout == Layout::Parallel && index % 2 == 1;
}
inline bool first_of_parallel(const StackSpec& spec, int index) {
    return spec.layout == Layout::Parallel && index % 2 == 0;
}

/// Whether the sub-layer has a gate of GPAS of its own: a parallel layer has one output, which is the
/// feed-forward sub-layer's.
inline bool has_gate(const StackSpec& spec, const SublayerRule& rule, int index) {
    return spec.gpas.enabled && !(first_of_parallel(spec, index) && rule.gate == GateSite::Output);
}

/// The site of a sub-layer's gate and the signals that it scales.
class SublayerGate {
  public:
    SublayerGate(const StackSpec& spec, const SublayerRule& rule, int index)
        : there_(has_gate(spec, rule, index)), site_(rule.gate), stops_gradient_(spec.gpas.stop_gradient) {}
    bool at(GateSite site) const { return there_ && site == site_; }
    /// Whether a gradient or a tangent is multiplied there: not where the stop-gradient is honoured.
    bool scales(GateSite site, Jacobian kind) const {
        return at(site) && !(kind == Jacobian::Backprop && stops_gradient_);
    }

  private:
    bool there_;
    GateSite site_;
    bool stops_gradient_;
};

/// The inputs of a sub-layer's coefficients.
inline CoefficientRule coefficient_rule(const StackSpec& spec, const ParameterTable& table,
                                        const SublayerRule& rule, int index) {
    const SublayerOffsets& at = offsets(table, index);
    CoefficientRule to;
    to.a = rule.a;
    to.b = rule.b;
    to.s_in = rule.s_in;
    if (has_gate(spec, rule, index)) to.gate = at.gate;
    if (spec.branch_scale == BranchScale::Scalar) to.scale = at.scale;
    to.site = rule.gate;
    to.activation = spec.gpas.activation;
    to.stops_gradient = spec.gpas.stop_gradient;
    to.second_of_parallel = second_of_parallel(spec, index);
    return to;
}

}  // namespace normscope
