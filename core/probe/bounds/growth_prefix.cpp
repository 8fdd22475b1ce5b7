// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/growth_prefix.h"

#include "core/backend/row/gate.h"
#include "core/probe/bounds/branch_bound.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace normscope {

namespace {

template <class T>
const SublayerOffsets& offsets(const Transformer<T>& model, std::size_t k) {
    if (k % 2 == 0) return model.table().attention[k / 2];
    return model.table().feed_forward[k / 2];
}

bool first_of_parallel(const StackSpec& s, std::size_t k) {
    return s.layout == Layout::Parallel && k % 2 == 0;
}
bool second_of_parallel(const StackSpec& s, std::size_t k) {
    return s.layout == Layout::Parallel && k % 2 == 1;
}

/// act(α) of sub-layer k's gate; 0 where it has none, as the first of a parallel layer, whose output is the
/// second's.
template <class T>
double gate_of(const Transformer<T>& model, std::size_t k) {
    const StackSpec& s = model.spec();
    if (!s.gpas.enabled) return 0;
    if (first_of_parallel(s, k) && model.rules()[k].gate == GateSite::Output) return 0;
    return gate_activation(s.gpas.activation,
                           static_cast<double>(model.host_parameters(offsets(model, k).gate, 1)[0]));
}

/// The effect of a GPAS gate on a sub-layer's factors: |1 − act(α)| at its site, 1 elsewhere.
template <class T>
struct Passed {
    Passed(const Transformer<T>& model, std::size_t k) {
        if (!model.spec().gpas.enabled) return;
        const double passed = std::abs(1 - gate_of(model, k));
        // A parallel layer's shortcut, and a gate on it or on the layer's input, are in its first sum; the
        // second adds a branch to that.
        const bool has_shortcut = !second_of_parallel(model.spec(), k);
        switch (model.rules()[k].gate) {
            case GateSite::Output:
                output = passed;
                break;
            case GateSite::Input:  // the shortcut starts from the gated input too; the branch norms it, at
                                   // its start or end
                input = passed;
                if (has_shortcut) shortcut = passed;
                break;
            case GateSite::Shortcut:
                if (has_shortcut) shortcut = passed;
                break;
            case GateSite::Branch:
                branch = passed;
                break;  // after the output norm
            case GateSite::Norm:
                norm = passed;
                break;  // between the input norm and f
            case GateSite::Auto:
                break;  // not in a model's rules
        }
    }
    double output = 1, shortcut = 1, input = 1, branch = 1, norm = 1;
};

/// 1/σ_ε of the token that the input norm enlarges most.
template <class T>
double largest_norm_gain(const Tape<T>& tape, std::size_t k) {
    const HostView<T> rstd = tape.view(tape.sublayers[k].in.rstd, static_cast<std::size_t>(tape.rows()));
    double largest = 0;
    for (const T r : rstd)
        if (const auto value = static_cast<double>(r); !(value <= largest)) largest = value;
    return largest;
}

bool all_finite(std::initializer_list<double> values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

template <class T>
GrowthPrefixes growth_prefixes(const Transformer<T>& model, const Tape<T>& tape, ThreadPool& pool) {
    GrowthPrefixes prefixes;
    const StackSpec& s = model.spec();
    const auto& rules = model.rules();
    const auto d = static_cast<std::size_t>(s.d_model);
    std::size_t end = 0;
    while (end < rules.size() && (rules[end].in || rules[end].out) && !rules[end].post) ++end;

    std::vector<BranchBound> branches(end);
    pool.run(static_cast<int>(end), [&](int index) {
        const auto k = static_cast<std::size_t>(index);
        if (!rules[k].out) branches[k] = branch_bound(model, k, rules[k].s_in * Passed<T>(model, k).norm);
    });

    bool product = s.layout == Layout::Serial;
    for (std::size_t k = 0; k < end; ++k) {
        const SublayerRule& rule = rules[k];
        const SublayerOffsets& at = offsets(model, k);
        const Passed<T> passed(model, k);
        BoundedSublayer bound;
        bound.step = model.numerics.residual_step;
        bound.branch_scale = std::abs(rule.b) * passed.branch;
        if (s.branch_scale != BranchScale::None)
            bound.branch_scale *=
                largest_magnitude(model, at.scale, s.branch_scale == BranchScale::Scalar ? 1 : d);
        bound.shortcut_scale = passed.shortcut * (second_of_parallel(s, k) ? 1 : std::abs(rule.a));
        bound.gate_scale = passed.output;
        bound.output_norm = rule.out.has_value();
        if (rule.out) {
            bound.gamma_max = largest_magnitude(model, at.norm_out.weight, d);
            bound.beta_max = largest_magnitude(model, at.norm_out.bias, d);
        } else {
            bound.branch_rms = branches[k].token / std::sqrt(static_cast<double>(d));
        }
        if (!all_finite({bound.branch_scale, bound.largest_rms(), bound.gate_scale, bound.shortcut_scale}))
            break;
        prefixes.bounded.push_back(bound);

        product = product && !rule.out && branches[k].unbiased;
        if (!product) continue;
        PreNormSublayer factor;
        factor.step = bound.step;
        factor.gamma_max = branches[k].gamma;
        const double gain = largest_norm_gain(tape, k);
        factor.smallest_token_norm = std::sqrt(static_cast<double>(d)) / gain;  // ε is in it already
        factor.gain = branches[k].gain;
        factor.mixes_tokens = k % 2 == 0;
        // A gate at the input is before the norm: the token that is normed is shorter by it, its norm is the
        // tape's.
        factor.branch_scale = bound.branch_scale * std::abs(rule.s_in) * passed.norm * passed.input;
        factor.gate_scale = bound.gate_scale;
        factor.shortcut_scale = bound.shortcut_scale;
        product = gain > 0 && all_finite({gain, factor.gain, factor.branch_scale});
        if (product) prefixes.product.push_back(factor);
    }
    return prefixes;
}
template GrowthPrefixes growth_prefixes(const Transformer<float>&, const Tape<float>&, ThreadPool&);
template GrowthPrefixes growth_prefixes(const Transformer<double>&, const Tape<double>&, ThreadPool&);

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
