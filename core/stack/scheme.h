// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <optional>

namespace normscope {

enum class Sublayer { Attention, FeedForward };
inline constexpr const char* sublayer_name(Sublayer s) {
    return s == Sublayer::Attention ? "attn" : "ffn";
}

// Every sub-layer of every scheme is one form (f is attention or the feed-forward map):
//
//     u  = s_in · N_in(x)
//     y  = N_out(f(u))
//     z  = a·x + Δt·b·λ∘y
//     x' = N_post(z)
//
// and a row of scheme_rows.h states which norms are placed and what a and s_in are; λ is the learnable
// branch_scale.
//
// In a parallel layer attention and the feed-forward map both read the layer's input x and share one
// shortcut and one post norm: the attention sub-layer returns h' = a·x + Δt·b·λ∘y_attn, the feed-forward
// sub-layer x' = N_post(h' + Δt·b·λ∘y_ffn). The shortcut's a is attention's, N_post is the feed-forward
// sub-layer's (`ffn.norm_post`; an override of `attn.post` or `ffn.a` has no effect).
//
// GPAS applies P_g (gate.h) at one site of every sub-layer: on x before both branches (input), on u (norm;
// also where no norm is placed), on y (branch), on the shortcut's x alone (shortcut), or on x' (output). A
// parallel layer has one input, one shortcut and one output, hence one gate there.

/// The rule of one sub-layer, after the scheme's row, Mix-LN's split and the user's overrides.
struct SublayerRule {
    std::optional<NormSpec> in, out, post, v;  ///< the norm at each place, where there is one
    ResidualSource residual = ResidualSource::Stream;
    double a = 1;     ///< factor of the shortcut; a parallel layer's two rules both hold the one of the layer
    double b = 1;     ///< factor of the branch, besides Δt
    double s_in = 1;  ///< factor after the input norm
    GateSite gate = GateSite::Auto;  ///< where GPAS is applied, Auto resolved; read only when gpas.enabled
};

/// Mix-LN: so many layers, from the first on, are Post-LN, the others Pre-LN: ⌊fraction·N⌋ ([G] after
/// Mix-LN).
int mix_post_layers(const StackSpec& spec);

/// `layer` counts from 0.
SublayerRule sublayer_rule(const StackSpec& spec, int layer, Sublayer kind);

/// Throws InputError for a rule that the form can express and the passes do not compute yet.
void check_computed(const SublayerRule& rule);

// The norms outside of sub-layers, where the stack has them.
std::optional<NormSpec> embedding_norm_of(const StackSpec& spec);
std::optional<NormSpec> final_norm_of(const StackSpec& spec);
std::optional<NormSpec> qk_norm_of(const StackSpec& spec);  ///< on queries and keys, one each

}  // namespace normscope
