// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/gate.h"
#include "core/model/pass.h"
#include "core/stack/scheme.h"

namespace normscope {

/// Where the tensors of a sub-layer lie; sub-layers count as in sublayer.h.
template <class T>
const SublayerOffsets& offsets(const Pass<T>& pass, int index) {
    if (index % 2 == 0) return pass.table.attention[static_cast<std::size_t>(index / 2)];
    return pass.table.feed_forward[static_cast<std::size_t>(index / 2)];
}

/// The gate of a sub-layer at this moment; it stands nowhere without GPAS.
class SublayerGate {
  public:
    template <class T>
    SublayerGate(const Pass<T>& pass, const SublayerOffsets& at, const SublayerRule& rule, bool first_of_parallel) {
        const GpasSpec& gpas = pass.spec.gpas;
        // A parallel layer has one output, which is the feed-forward sub-layer's.
        if (!gpas.enabled || (first_of_parallel && rule.gate == GateSite::Output)) return;
        const double g = static_cast<double>(*pass.at(at.gate));
        site_ = rule.gate;
        value_ = 1 - gate_activation(gpas.activation, g);
        slope_ = gate_derivative(gpas.activation, g);
        stops_gradient_ = gpas.stop_gradient;
    }
    bool at(GateSite site) const { return site == site_; }
    /// 1 − act(g) where the gate stands, 1 elsewhere.
    double value(GateSite site) const { return at(site) ? value_ : 1; }
    /// What a gradient or a tangent is multiplied by: 1 where the stop-gradient is honoured.
    double factor(GateSite site, Jacobian kind) const {
        return kind == Jacobian::Backprop && stops_gradient_ ? 1 : value(site);
    }
    double slope() const { return slope_; }  ///< act'(g)

  private:
    GateSite site_ = GateSite::Auto;
    double value_ = 1, slope_ = 0;
    bool stops_gradient_ = true;
};

/// What multiplies a branch beside its gate: Δt·b·λ, with λ a number or one for each channel.
template <class T>
struct BranchFactor {
    BranchFactor(const Pass<T>& pass, const SublayerOffsets& at, const SublayerRule& rule)
        : step(pass.numerics.residual_step * rule.b), number(step) {
        if (pass.spec.branch_scale == BranchScale::Scalar) number *= static_cast<double>(*pass.at(at.scale));
        if (pass.spec.branch_scale == BranchScale::Channel) channels = pass.at(at.scale);
    }
    double step;    ///< Δt·b
    double number;  ///< Δt·b, times λ where it is a number
    const T* channels = nullptr;
};

/// In a parallel layer the first sub-layer is attention, the second the feed-forward map; a serial layer has neither.
template <class T>
bool second_of_parallel(const Pass<T>& pass, int index) {
    return pass.spec.layout == Layout::Parallel && index % 2 == 1;
}
template <class T>
bool first_of_parallel(const Pass<T>& pass, int index) {
    return pass.spec.layout == Layout::Parallel && index % 2 == 0;
}

}  // namespace normscope
