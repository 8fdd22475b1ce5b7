// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/scheme.h"

#include "core/base/error.h"

#include <cmath>

namespace normscope {

namespace {

std::optional<NormSpec> norm_if(bool there, const StackSpec& spec) {
    return there ? std::optional(spec.norm) : std::nullopt;
}

void apply(const RuleOverride& manual, const StackSpec& spec, SublayerRule& rule) {
    if (manual.in) rule.in = norm_if(*manual.in, spec);
    if (manual.out) rule.out = norm_if(*manual.out, spec);
    if (manual.post) rule.post = norm_if(*manual.post, spec);
    if (manual.a) rule.a = *manual.a;
    if (manual.b) rule.b = *manual.b;
}

/// The row's rule with the user's overrides; layout and gate are ignored.
SublayerRule rule_of_row(const StackSpec& spec, int layer, Sublayer kind) {
    Scheme scheme = spec.scheme;
    if (scheme == Scheme::Mix) scheme = layer < mix_post_layers(spec) ? Scheme::Post : Scheme::Pre;
    const SchemeRow& row = scheme_row(scheme);

    SublayerRule rule;
    const NormPlaces& places = kind == Sublayer::Attention ? row.attn : row.ffn;
    rule.in = norm_if(places.in, spec);
    rule.out = norm_if(places.out, spec);
    rule.post = norm_if(places.post, spec);
    rule.v = norm_if(places.v, spec);
    rule.residual = row.residual;
    if (row.shortcut == SchemeRow::Shortcut::DeepNorm) rule.a = std::pow(2.0 * spec.depth, 0.25);
    // The γ form of LNS starts the norm's gain at 1/√ℓ instead of multiplying by it (initial_weights.h).
    if (row.s_in == SchemeRow::InputScale::InverseSqrtLayer && spec.lns_form == LnsForm::Factor)
        rule.s_in = 1.0 / std::sqrt(layer + 1.0);
    for (const auto& manual : spec.layers)
        if (manual.index == layer) apply(kind == Sublayer::Attention ? manual.attn : manual.ffn, spec, rule);
    return rule;
}

}  // namespace

int mix_post_layers(const StackSpec& spec) {
    return static_cast<int>(std::floor(spec.mix_post_fraction * spec.depth));
}

SublayerRule sublayer_rule(const StackSpec& spec, int layer, Sublayer kind) {
    SublayerRule rule = rule_of_row(spec, layer, kind);
    bool post_of_shortcut = rule.post.has_value();
    if (spec.layout == Layout::Parallel) {
        post_of_shortcut = rule_of_row(spec, layer, Sublayer::FeedForward).post.has_value();
        if (kind == Sublayer::Attention)
            rule.post.reset();
        else
            rule.a = rule_of_row(spec, layer, Sublayer::Attention).a;
    }
    rule.gate = spec.gpas.site;
    if (rule.gate == GateSite::Auto) rule.gate = post_of_shortcut ? GateSite::Shortcut : GateSite::Output;
    return rule;
}

void check_computed(const SublayerRule& rule) {
    if (rule.v)
        throw InputError("stack.scheme", "a norm on the values is not computed yet",
                         "norms in, out and post");
    if (rule.residual != ResidualSource::Stream)
        throw InputError("stack.scheme", "a shortcut from the embedding is not computed yet",
                         "a shortcut from the stream");
}

std::optional<NormSpec> embedding_norm_of(const StackSpec& spec) {
    return norm_if(spec.embedding_norm, spec);
}
std::optional<NormSpec> final_norm_of(const StackSpec& spec) {
    return norm_if(has_final_norm(spec), spec);
}
std::optional<NormSpec> qk_norm_of(const StackSpec& spec) {
    return norm_if(spec.qk_norm != QkNorm::Off, spec);
}

}  // namespace normscope
