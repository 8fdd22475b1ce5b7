// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"

#include <QString>
#include <vector>

namespace normscope::widgets {

/// A key in which a recipe differs from another, with the display texts of both values; "–" where a recipe
/// lacks the key.
struct KeyDifference {
    KeyRef key;     ///< stack.residual_step; all overrides are the one key stack.layers
    QString label;  ///< as the knob is labelled, "Δt"; the end of the key where there is no knob
    QString base, now;
    bool operator==(const KeyDifference&) const = default;
};

/// A recipe with a name, to compare others with.
struct NamedRecipe {
    QString name;   ///< "pre-ln"
    QString title;  ///< "Pre-LN"
    Recipe recipe;  ///< "auto" sizes are taken from the compared recipe
};

/// Where `now` differs from `base`, in the order in which recipes write their keys. Probes and watchpoints
/// are ignored: they do not affect a run.
std::vector<KeyDifference> recipeDifferences(const Recipe& base, const Recipe& now);

/// The base that differs in the fewest keys, the first of them; −1 where there is none.
int nearestRecipe(const std::vector<NamedRecipe>& bases, const Recipe& now);

/// `to` with the one key (a list as a whole) of `from`. No other key changes.
Recipe withKeyOf(const Recipe& to, const Recipe& from, KeyRef key);

}  // namespace normscope::widgets
