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

/// The scheme's rule of a sub-layer, without overrides.
SublayerRule schemeRule(const StackSpec& spec, int layer, Sublayer kind);

/// The spec with one norm switched in one layer, or in all: an override under layers[index], removed where it
/// equals the scheme. Other overrides (of other norms, of a and b) are kept. `layer` in [0, depth).
StackSpec withNorm(StackSpec spec, int layer, Sublayer kind, NormPlace place, bool on, bool all_layers);

/// The overrides of one sub-layer; empty if none.
RuleOverride overrideOf(const StackSpec& spec, int layer, Sublayer kind);

/// The spec with the factors a (of the shortcut) and b (of the branch) of one sub-layer; without a value: as
/// in the scheme. Norm overrides are kept.
StackSpec withFactors(StackSpec spec, int layer, Sublayer kind, std::optional<double> a,
                      std::optional<double> b);

/// The spec without the overrides of one layer, or (−1) of all.
StackSpec withoutOverrides(StackSpec spec, int layer = -1);

/// The spec in which every layer follows the rules of this one: norms and overridden factors.
StackSpec withLayerEverywhere(StackSpec spec, int layer);

/// Whether the form of a sub-layer has a norm at this place at all: the two sub-layers of a parallel layer
/// share one sum and one norm after it, that of the feed-forward.
bool hasPlace(const StackSpec& spec, Sublayer kind, NormPlace place);
/// Whether the sub-layer has a shortcut, and so a factor a, of its own: that of a parallel layer is
/// attention's.
bool hasShortcut(const StackSpec& spec, Sublayer kind);

}  // namespace normscope::widgets
