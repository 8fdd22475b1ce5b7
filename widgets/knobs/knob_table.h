// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_scale.h"

#include <span>

namespace normscope {
struct Recipe;
}

namespace normscope::widgets {

/// Where a knob stands in the column: in sight, or under one of the folds.
enum class KnobSection { InSight, Block, Residual, Init, Gpas, Training };
inline constexpr int kKnobSections = 6;

/// What a fold is called; empty for those in sight.
QString sectionTitle(KnobSection section);

/// How the values of a number lie along its slider.
struct KnobRange {
    KnobScale::Kind kind = KnobScale::Kind::Linear;
    double low = 0, high = 1;
    bool zero = false;
    std::vector<double> detents = {};
};

/// One knob of the column. What its key may hold comes from the recipe itself (recipeDomains); here stands
/// only how it is shown. Texts are source texts of the context "KnobTable".
struct KnobSpec {
    KnobSection section;
    const char* key;       ///< "stack.residual_step"
    const char* label;     ///< "Δt"
    const char* name;      ///< for screen readers and messages: "residual step"
    const char* tip;       ///< what it does, with its formula and source
    KnobRange range = {};  ///< numbers only
    /// Whether the key does anything in this recipe; null = always. A knob is shown only where it does.
    bool (*applies)(const Recipe&) = nullptr;
};

/// In the order of the column.
std::span<const KnobSpec> knobTable();

/// A number's scale for this recipe. Some depend on other keys: Δt has a detent at 1/√(2·depth), the width
/// moves in multiples of the heads, the heads over divisors of the width, the key/value heads over those of
/// the heads, the warm-up up to the steps.
KnobScale knobScale(const KnobSpec& spec, const Recipe& recipe);

/// What a person reads for a word: "Pre-LN" for scheme pre.
QString choiceTitle(const QString& key, const QString& word);

/// What a word stands for, where one line says it: a scheme's sub-layer with its source. Else empty.
QString choiceTip(const QString& key, const QString& word);

}  // namespace normscope::widgets
