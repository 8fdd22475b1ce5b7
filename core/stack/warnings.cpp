// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/warnings.h"

#include "core/stack/scheme.h"

namespace normscope {

namespace {

bool one_of(Scheme scheme, std::initializer_list<Scheme> set) {
    for (Scheme s : set)
        if (s == scheme) return true;
    return false;
}

void warn_scheme(const StackSpec& s, std::vector<std::string>& lines) {
    const std::string title = scheme_row(s.scheme).title;
    if (s.scheme == Scheme::Lns && s.init.rule == InitRule::Gpt2)
        lines.push_back(
            "scheme lns with init.rule gpt2: both shrink the branches with depth; the authors of LNS advise "
            "against "
            "1/√(2N) on the output projections (LayerNorm-Scaling README); use init.rule plain");
    if (s.scheme == Scheme::DeepNorm && s.init.rule != InitRule::DeepNorm)
        lines.push_back(
            std::string("scheme deepnorm with init.rule ") + word_of(s.init.rule) +
            ": DeepNorm is a = (2N)^(1/4) together with the initial gain (8N)^(−1/4) (DeepNet; [G] §4); use "
            "init.rule deepnorm");
    if (s.init.rule == InitRule::DeepNorm && s.scheme != Scheme::DeepNorm)
        lines.push_back(
            std::string("init.rule deepnorm with scheme ") + word_of(s.scheme) +
            ": its gain (8N)^(−1/4) belongs to the shortcut's (2N)^(1/4), which only scheme deepnorm has "
            "(DeepNet)");
    if (s.residual_step != 1 && one_of(s.scheme, {Scheme::Post, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns,
                                                  Scheme::Sandwich, Scheme::Output}))
        lines.push_back(
            "residual_step with " + title +
            ": [K] defines Δt for Pre-LN and Peri-LN (eqs. 7, 8) and tries it there and without norms; this "
            "is an extension of ours" +
            (s.scheme == Scheme::Post ? ", up to ε DeepNorm's forward map with a = 1/Δt" : ""));
    if (s.scheme == Scheme::Mix && mix_post_layers(s) == 0)
        lines.push_back(
            "mix_post_fraction times depth is below 1: no layer is Post-LN, the stack is Pre-LN "
            "(Mix-LN takes ⌊N/4⌋ layers)");
    if (!has_final_norm(s) && one_of(s.scheme, {Scheme::Pre, Scheme::Peri, Scheme::Sandwich, Scheme::Mix,
                                                Scheme::Lns, Scheme::Output}))
        lines.push_back(
            "final_norm off with " + title +
            ": the head reads the hidden states bare; every published model of it has a final norm "
            "(GPT-2, [G], [K])");
}

void warn_gpas(const StackSpec& s, std::vector<std::string>& lines) {
    const GpasSpec& g = s.gpas;
    if (!g.enabled) return;
    if (!g.stop_gradient)
        lines.push_back(
            "gpas.stop_gradient false: the gates then scale gradients too; [G] reports perplexity 21.34, "
            "with stop-gradient 20.35, without GPAS 21.35 (Table 5, 350M)");
    if (g.learnable && g.activation == GateActivation::Relu)
        lines.push_back(
            "gpas.activation relu: the gate starts at 0, where the slope of ReLU is 0, so it never moves; "
            "[G] reports perplexity 21.17, with silu 20.35, without GPAS 21.35 (Table 4, 350M)");
    if (g.site == GateSite::Norm || g.site == GateSite::Branch)
        lines.push_back(std::string("gpas.site ") + word_of(g.site) + ": [G] reports perplexity " +
                        (g.site == GateSite::Norm ? "21.33" : "21.23") +
                        ", at the output 20.35, without GPAS 21.35 (Table 4, 350M)");
    if (one_of(s.scheme, {Scheme::None, Scheme::Post, Scheme::Peri, Scheme::Output}))
        lines.push_back(std::string("gpas with ") + scheme_row(s.scheme).title +
                        ": not tried in [G], whose bases are Pre-LN, Sandwich-LN, DeepNorm, Mix-LN and LNS");
    if (!g.learnable)
        lines.push_back(
            "gpas.learnable false: gates stay where they start, at 0, where they do nothing, unless weights "
            "are loaded; [G] reports perplexity 22.46 with predefined gates, 20.35 with learned ones "
            "(Table 5, 350M)");
}

void warn_layers(const StackSpec& s, std::vector<std::string>& lines) {
    for (const LayerOverride& layer : s.layers) {
        const std::string at = "layers, index " + std::to_string(layer.index) + ": ";
        if (s.layout != Layout::Parallel) continue;
        if (layer.attn.post)
            lines.push_back(at +
                            "attn.post does nothing in a parallel layer, whose one post norm is ffn.post");
        if (layer.ffn.a)
            lines.push_back(at + "ffn.a does nothing in a parallel layer, whose one shortcut has attn.a");
    }
    if (s.branch_scale == BranchScale::Channel &&
        (scheme_row(s.scheme).attn.out || scheme_row(s.scheme).ffn.out))
        lines.push_back(
            std::string("branch_scale channel with ") + scheme_row(s.scheme).title +
            ": the gain of the output norm already is one factor a channel; the two are learned as their "
            "product (LayerScale is meant for branches without an output norm)");
}

}  // namespace

std::vector<std::string> warnings(const StackSpec& spec) {
    std::vector<std::string> lines;
    warn_scheme(spec, lines);
    warn_gpas(spec, lines);
    warn_layers(spec, lines);
    return lines;
}

}  // namespace normscope
