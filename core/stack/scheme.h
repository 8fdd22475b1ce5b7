// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

namespace normscope {

/// A scheme is a row of data. Every sub-layer of every scheme is one form (f is attention or the feed-forward map):
///
///     u  = s_in · N_in(x)
///     y  = N_out(f(u))
///     z  = a·x + Δt·b·y
///     x' = N_post(z)
///
/// and a row says which norms stand and what a and s_in are. A new scheme is a new row plus its test.
struct SchemeRow {
    Scheme scheme;
    const char* title;  ///< "Pre-LN"
    bool in, out, post;
    enum class Shortcut { One, DeepNorm } shortcut;          ///< a = 1, or (2N)^{1/4} ([E] §6 after DeepNet)
    enum class InputScale { One, InverseSqrtLayer } s_in;    ///< 1, or 1/√ℓ (LNS, [G] eq. 3)
    const char* source;
};

const SchemeRow& scheme_row(Scheme scheme);

enum class Sublayer { Attention, FeedForward };
inline constexpr const char* sublayer_name(Sublayer s) { return s == Sublayer::Attention ? "attn" : "ffn"; }

/// The rule of one sub-layer, after the scheme's row, Mix-LN's split and the overrides made by hand.
struct SublayerRule {
    bool in = false, out = false, post = false;
    double a = 1;     ///< factor of the shortcut
    double b = 1;     ///< factor of the branch, beside Δt
    double s_in = 1;  ///< factor after the input norm
    GateSite gate = GateSite::Auto;  ///< where GPAS stands, Auto resolved; read only when gpas.enabled
};

/// `layer` counts from 0. Mix-LN: the first ⌊fraction·N⌋ layers are Post-LN, the others Pre-LN ([G] after Mix-LN).
SublayerRule sublayer_rule(const StackSpec& spec, int layer, Sublayer kind);

}  // namespace normscope
