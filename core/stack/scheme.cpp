// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/scheme.h"

#include <cmath>

namespace normscope {

namespace {

using Shortcut = SchemeRow::Shortcut;
using InputScale = SchemeRow::InputScale;

// In the order of the enum.
constexpr SchemeRow kRows[] = {
    {Scheme::None, "No norm", false, false, false, Shortcut::One, InputScale::One, "[K] Table 1"},
    {Scheme::Post, "Post-LN", false, false, true, Shortcut::One, InputScale::One, "[G] eq. 5"},
    {Scheme::Pre, "Pre-LN", true, false, false, Shortcut::One, InputScale::One, "[G] eq. 1, [K] eq. 7"},
    {Scheme::Peri, "Peri-LN", true, true, false, Shortcut::One, InputScale::One, "[K] eq. 8"},
    {Scheme::Sandwich, "Sandwich-LN", true, true, false, Shortcut::One, InputScale::One, "[G] eq. 4"},
    {Scheme::DeepNorm, "DeepNorm", false, false, true, Shortcut::DeepNorm, InputScale::One, "[G] eq. 6"},
    {Scheme::Mix, "Mix-LN", true, false, false, Shortcut::One, InputScale::One, "[G] §2"},
    {Scheme::Lns, "LNS", true, false, false, Shortcut::One, InputScale::InverseSqrtLayer, "[G] eq. 3"},
    {Scheme::Output, "Output-LN", false, true, false, Shortcut::One, InputScale::One, "OLMo 2"},
    {Scheme::Custom, "Custom", false, false, false, Shortcut::One, InputScale::One, "by hand"},
};

void apply(const RuleOverride& by_hand, SublayerRule& rule) {
    if (by_hand.in) rule.in = *by_hand.in;
    if (by_hand.out) rule.out = *by_hand.out;
    if (by_hand.post) rule.post = *by_hand.post;
    if (by_hand.a) rule.a = *by_hand.a;
    if (by_hand.b) rule.b = *by_hand.b;
}

/// The row's rule with the user's overrides; layout and gate are ignored.
SublayerRule rule_of_row(const StackSpec& spec, int layer, Sublayer kind) {
    Scheme scheme = spec.scheme;
    if (scheme == Scheme::Mix) scheme = layer < mix_post_layers(spec) ? Scheme::Post : Scheme::Pre;
    const SchemeRow& row = scheme_row(scheme);

    SublayerRule rule;
    rule.in = row.in;
    rule.out = row.out;
    rule.post = row.post;
    if (row.shortcut == Shortcut::DeepNorm) rule.a = std::pow(2.0 * spec.depth, 0.25);
    // The γ form of LNS starts the norm's gain at 1/√ℓ instead of multiplying by it (initial_weights.h).
    if (row.s_in == InputScale::InverseSqrtLayer && spec.lns_form == LnsForm::Factor)
        rule.s_in = 1.0 / std::sqrt(layer + 1.0);
    for (const auto& by_hand : spec.layers)
        if (by_hand.index == layer) apply(kind == Sublayer::Attention ? by_hand.attn : by_hand.ffn, rule);
    return rule;
}

}  // namespace

const SchemeRow& scheme_row(Scheme scheme) { return kRows[static_cast<int>(scheme)]; }

int mix_post_layers(const StackSpec& spec) {
    return static_cast<int>(std::floor(spec.mix_post_fraction * spec.depth));
}

SublayerRule sublayer_rule(const StackSpec& spec, int layer, Sublayer kind) {
    SublayerRule rule = rule_of_row(spec, layer, kind);
    bool post_of_shortcut = rule.post;
    if (spec.layout == Layout::Parallel) {
        post_of_shortcut = rule_of_row(spec, layer, Sublayer::FeedForward).post;
        if (kind == Sublayer::Attention) rule.post = false;
        else rule.a = rule_of_row(spec, layer, Sublayer::Attention).a;
    }
    rule.gate = spec.gpas.site;
    if (rule.gate == GateSite::Auto) rule.gate = post_of_shortcut ? GateSite::Shortcut : GateSite::Output;
    return rule;
}

}  // namespace normscope
