// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"
#include "core/stack/scheme_rows.h"
#include "widgets/figures/knobs/knob_scale.h"

#include <span>

namespace normscope::widgets {

/// The place of a knob: always visible, or in one of the folds.
enum class KnobSection { InSight, Block, Residual, Init, Gpas, Training, Data };
inline constexpr int kKnobSections = 7;

/// The title of a fold; empty for the visible knobs.
QString sectionTitle(KnobSection section);

/// How the values of a number lie along its slider.
struct KnobRange {
    KnobScale::Kind kind = KnobScale::Kind::Linear;
    double low = 0, high = 1;
    bool zero = false;
    std::vector<double> detents = {};
};

/// One knob of the column: its presentation. The allowed values of its key and what it does are
/// those of the recipe's table. Texts are source texts of the context
/// "KnobTable".
struct KnobSpec {
    KnobSection section;
    KeyRef key;            ///< stack.residual_step
    const char* label;     ///< "Δt"
    const char* name;      ///< for screen readers and messages: "residual step"
    KnobRange range = {};  ///< numbers only
    /// Whether the key has an effect in this recipe; null = always. Else the knob is greyed out.
    bool (*applies)(const Recipe&) = nullptr;
};

/// In the order of the column.
std::span<const KnobSpec> knobTable();

/// A number's scale for this recipe. Some depend on other keys: Δt has a detent at 1/√(2·depth), the width
/// moves in multiples of the heads, the heads over divisors of the width, the key/value heads over those of
/// the heads, the warm-up up to the steps.
KnobScale knobScale(const KnobSpec& spec, const Recipe& recipe);

/// The display text of a word: "Pre-LN" for scheme pre.
QString choiceTitle(KeyRef key, const QString& word);

/// Whether two schemes are one map under two names (Peri-LN and Sandwich-LN).
bool sameNorms(Scheme a, Scheme b);

/// The tooltip of a word: a scheme's sub-layer with its source. May be empty.
QString choiceTip(KeyRef key, const QString& word);

}  // namespace normscope::widgets
