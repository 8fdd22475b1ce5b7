// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/growth_prefix.h"

#include <algorithm>
#include <cmath>

#include "core/model/gate.h"

namespace normscope {

namespace {

/// 0 for an absent tensor; NaN where an entry is.
template <class T>
double largest_magnitude(const Transformer<T>& model, std::size_t offset, std::size_t count) {
    if (offset == kAbsent) return 0;
    double largest = 0;
    for (T v : model.parameters().subspan(offset, count))
        if (const double size = std::abs(static_cast<double>(v)); !(size <= largest)) largest = size;
    return largest;
}

template <class T>
const SublayerOffsets& offsets(const Transformer<T>& model, std::size_t k) {
    if (k % 2 == 0) return model.table().attention[k / 2];
    return model.table().feed_forward[k / 2];
}

bool first_of_parallel(const StackSpec& s, std::size_t k) { return s.layout == Layout::Parallel && k % 2 == 0; }
bool second_of_parallel(const StackSpec& s, std::size_t k) { return s.layout == Layout::Parallel && k % 2 == 1; }

/// act(α) of sub-layer k's gate; 0 where it has none, as the first of a parallel layer, whose output is the second's.
template <class T>
double gate_of(const Transformer<T>& model, std::size_t k) {
    const StackSpec& s = model.spec();
    if (!s.gpas.enabled) return 0;
    if (first_of_parallel(s, k) && model.rules()[k].gate == GateSite::Output) return 0;
    return gate_activation(s.gpas.activation, static_cast<double>(model.parameters()[offsets(model, k).gate]));
}

}  // namespace

template <class T>
std::vector<OutputNormSublayer> bounded_prefix(const Transformer<T>& model) {
    std::vector<OutputNormSublayer> prefix;
    const StackSpec& s = model.spec();
    const auto d = static_cast<std::size_t>(s.d_model);
    for (std::size_t k = 0; k < model.rules().size(); ++k) {
        const SublayerRule& rule = model.rules()[k];
        if (!rule.out || rule.post) break;
        const SublayerOffsets& at = offsets(model, k);
        const double passed = std::abs(1 - gate_of(model, k));
        OutputNormSublayer bound;
        bound.step = model.numerics.residual_step;
        bound.branch_scale = std::abs(rule.b);
        if (s.branch_scale != BranchScale::None)
            bound.branch_scale *= largest_magnitude(model, at.scale, s.branch_scale == BranchScale::Scalar ? 1 : d);
        bound.gamma_max = largest_magnitude(model, at.norm_out.weight, d);
        bound.beta_max = largest_magnitude(model, at.norm_out.bias, d);
        // A parallel layer's shortcut, and a gate on it or on the layer's input, are in its first sum; the second adds a
        // branch to that.
        const bool has_shortcut = !second_of_parallel(s, k);
        bound.shortcut_scale = has_shortcut ? std::abs(rule.a) : 1;
        if (s.gpas.enabled) switch (rule.gate) {
                case GateSite::Output: bound.gate_scale = passed; break;
                case GateSite::Shortcut:
                case GateSite::Input:  // of the gated input the shortcut starts too; the branch ends in its norm anyway
                    if (has_shortcut) bound.shortcut_scale *= passed;
                    break;
                case GateSite::Branch: bound.branch_scale *= passed; break;  // behind the output norm
                case GateSite::Norm: break;                                  // before f: the output norm bounds what comes
                case GateSite::Auto: return prefix;                          // a model's rules hold none
            }
        for (const double value : {bound.branch_scale, bound.gamma_max, bound.beta_max, bound.gate_scale,
                                   bound.shortcut_scale})
            if (!std::isfinite(value)) return prefix;
        prefix.push_back(bound);
    }
    return prefix;
}
template std::vector<OutputNormSublayer> bounded_prefix(const Transformer<float>&);
template std::vector<OutputNormSublayer> bounded_prefix(const Transformer<double>&);

template <class T>
std::vector<double> estimated_prefix(const Transformer<T>& model) {
    std::vector<double> gates;
    const StackSpec& s = model.spec();
    if (!s.gpas.enabled || s.branch_scale != BranchScale::None) return gates;
    for (std::size_t k = 0; k < model.rules().size(); ++k) {
        const SublayerRule& rule = model.rules()[k];
        if (rule.post || rule.gate != GateSite::Output || rule.a != 1) break;
        if (model.numerics.residual_step * rule.b != 1) break;
        const double gate = gate_of(model, k);
        if (!std::isfinite(gate)) break;
        gates.push_back(gate);
    }
    return gates;
}
template std::vector<double> estimated_prefix(const Transformer<float>&);
template std::vector<double> estimated_prefix(const Transformer<double>&);

}  // namespace normscope
