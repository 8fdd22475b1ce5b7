// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/knob_table.h"

#include "core/recipe/recipe.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kExactWhole = 9007199254740992.0;  // 2^53: above it a double skips integers

/// Head counts that the width allows, up to the slider's end; rotary positions need an even head width.
std::vector<double> headCounts(const StackSpec& stack) {
    std::vector<double> counts;
    const int pairs = stack.position == Position::Rope ? 2 : 1;
    for (int heads = 1; heads <= std::max(64, stack.heads); ++heads)
        if (stack.d_model % (heads * pairs) == 0) counts.push_back(heads);
    return counts;
}

std::vector<double> divisorsOf(int number) {
    std::vector<double> divisors;
    for (int d = 1; d <= number; ++d)
        if (number % d == 0) divisors.push_back(d);
    return divisors;
}

}  // namespace

KnobScale knobScale(const KnobSpec& spec, const Recipe& recipe) {
    const std::string& key = spec.key->name;
    const FieldType& type = spec.key->type;
    KnobScale scale;
    scale.kind = spec.range.kind;
    scale.low = spec.range.low;
    scale.high = spec.range.high;
    scale.zero = spec.range.zero;
    scale.detents = spec.range.detents;
    scale.allowed_low = type.range.low;
    scale.allowed_high = type.kind == FieldType::Kind::Whole ? kExactWhole : type.range.high;
    scale.low_open = type.range.low_open;

    const StackSpec& stack = recipe.stack;
    if (key == "stack.residual_step") {
        scale.detents.push_back(1 / std::sqrt(2.0 * stack.depth));
        std::sort(scale.detents.begin(), scale.detents.end());
    } else if (key == "stack.d_model") {
        scale.multiple = stack.heads * (stack.position == Position::Rope ? 2 : 1);
        std::erase_if(scale.detents, [&](double d) { return std::fmod(d, scale.multiple) != 0; });
    } else if (key == "stack.heads") {
        scale.detents = headCounts(stack);
        scale.detents_only = !scale.detents.empty();
    } else if (key == "stack.kv_heads") {
        scale.detents = divisorsOf(stack.heads);
        scale.detents_only = true;
        scale.high = std::max(2, stack.heads);
    } else if (key == "stack.d_ff") {
        scale.detents.push_back(4 * stack.d_model);
        std::sort(scale.detents.begin(), scale.detents.end());
    } else if (key == "schedule.warmup") {
        scale.high = std::max(1, recipe.train.steps);
    }
    return scale;
}

}  // namespace normscope::widgets
