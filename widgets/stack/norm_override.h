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

/// What was set by hand in one sub-layer; empty where nothing was.
RuleOverride overrideOf(const StackSpec& spec, int layer, Sublayer kind);

/// The spec with the factors a (of the shortcut) and b (of the branch) of one sub-layer; without a value: as
/// the scheme says. Switched norms stay.
StackSpec withFactors(StackSpec spec, int layer, Sublayer kind, std::optional<double> a,
                      std::optional<double> b);

/// The spec with nothing set by hand in one layer, or (−1) in any.
StackSpec withoutOverrides(StackSpec spec, int layer = -1);

/// The spec in which every layer follows the rules of this one: norms, and the factors that were set by hand.
StackSpec withLayerEverywhere(StackSpec spec, int layer);

/// Whether the form of a sub-layer has a norm at this place at all: the two sub-layers of a parallel layer
/// share one sum and one norm after it, that of the feed-forward.
bool hasPlace(const StackSpec& spec, Sublayer kind, NormPlace place);
/// Whether the sub-layer has a shortcut, and so a factor a, of its own: that of a parallel layer is
/// attention's.
bool hasShortcut(const StackSpec& spec, Sublayer kind);

}  // namespace normscope::widgets
