// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/stack/knob_scale.h"

#include <span>

namespace normscope {
struct Recipe;
}

namespace normscope::widgets {

/// One knob of the column. What its key may hold comes from the recipe itself (recipeDomains); here stands
/// only how it is shown. Texts are source texts of the context "KnobTable".
struct KnobSpec {
    const char* key;    ///< "stack.residual_step"
    const char* label;  ///< "Δt"
    const char* name;   ///< for screen readers and messages: "residual step"
    const char* tip;    ///< what it does, with its formula
    bool hot;           ///< acts on a training run; else a change starts a new one
    bool folded;        ///< under "More"
    KnobScale::Kind scale = KnobScale::Kind::Linear;  ///< numbers only, as are the rest
    double low = 0, high = 1;
    bool zero = false;
    std::vector<double> detents = {};
};

/// In the order of the column.
std::span<const KnobSpec> knobTable();

/// A number's scale for this recipe. Some depend on other keys: Δt has a detent at 1/√(2·depth), the width
/// moves in multiples of the heads, the heads over divisors of the width, the warm-up up to the steps.
KnobScale knobScale(const KnobSpec& spec, const Recipe& recipe);

/// What a person reads for a word: "Pre-LN" for scheme pre.
QString choiceTitle(const QString& key, const QString& word);

}  // namespace normscope::widgets
