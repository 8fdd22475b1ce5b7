// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/scheme.h"

namespace normscope::widgets {

/// The three places of a norm in a sub-layer: N_in, N_out, N_post.
enum class NormPlace { In, Out, Post };

/// "in", "out", "post".
const char* normPlaceName(NormPlace place);

/// Whether a rule has the norm at this place.
bool hasNorm(const SublayerRule& rule, NormPlace place);

/// The scheme's own rule of a sub-layer: what it would be had nobody overridden anything.
SublayerRule schemeRule(const StackSpec& spec, int layer, Sublayer kind);

/// The spec with one norm switched in one layer, or in all: an override under layers[index], taken away again
/// where it says what the scheme says anyway. Other overrides (of other norms, of a and b) stay. `layer` in
/// [0, depth).
StackSpec withNorm(StackSpec spec, int layer, Sublayer kind, NormPlace place, bool on, bool all_layers);

}  // namespace normscope::widgets
