// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/run_difference_text.h"

#include "core/base/number_text.h"

#include <cmath>
#include <cstdio>

namespace normscope {

namespace {

std::string nine_digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

}  // namespace

std::string place_text(const DifferentPlace& place) {
    return "step " + std::to_string(place.step) + ", " + place.place + ": " + nine_digits(place.a) + " and " +
           nine_digits(place.b) +
           (std::isfinite(place.relative) ? ", " + number_text(place.relative) + " relative" : "") + " (" +
           place.series + ")";
}

std::string difference_text(const RunDifference& difference) {
    std::string text = difference.recipe.empty() ? "the recipes are equal\n" : "the recipes differ in\n";
    for (const RecipeDifference& key : difference.recipe)
        text += "  " + key.key + ": " + key.a + " and " + key.b + "\n";
    text += "steps of both: " + std::to_string(difference.steps_compared) + "\n";
    for (const std::string& line : difference.not_compared) text += "not compared: " + line + "\n";
    if (!difference.first_bit) return text + "no difference in any value that both recorded\n";
    const std::string tolerance = number_text(difference.tolerance) + " relative";
    text += "first difference: " + place_text(*difference.first_bit) + "\n";
    text += difference.first ? "first beyond " + tolerance + ": " + place_text(*difference.first) + "\n"
                             : "none beyond " + tolerance + "\n";
    text += "step  loss of B - loss of A, nat  hidden states, relative\n";
    for (const StepDistance& at : difference.growth)
        text += std::to_string(at.step) + "  " + number_text(at.loss) + "  " +
                (std::isnan(at.stream) ? "not sampled" : number_text(at.stream)) + "\n";
    return text;
}

}  // namespace normscope
