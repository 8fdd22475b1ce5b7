// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/rows.h"
#include "core/theory/growth_classifier.h"

#include <algorithm>
#include <vector>

namespace normscope {

using namespace preflight_rows;

std::string preflight_rows::why_no_growth_bound(const StackSpec& stack) {
    for (std::size_t k = 0; k < 2 * static_cast<std::size_t>(stack.depth); ++k) {
        const SublayerRule rule = sublayer_rule(stack, static_cast<int>(k / 2),
                                                k % 2 == 0 ? Sublayer::Attention : Sublayer::FeedForward);
        if (rule.post) return "broken at " + sublayer_text(k) + ": its sum is normed again";
        if (!rule.in && !rule.out) return "broken at " + sublayer_text(k) + ": its branch has no norm";
    }
    return "broken: a parameter or a state is not finite";
}

namespace {

/// A quantity at the last hidden state with its bound there.
PreflightRow bounded(const RunData& run, const char* name, const char* array, const char* bound_array,
                     const std::string& where_it_holds, const std::string& why_not) {
    PreflightRow row;
    row.name = name;
    row.value = last(values(run, "growth", array));
    row.bound = last(values(run, "growth", bound_array));
    row.theory = Theory::AtMost;
    row.validity = std::isnan(row.bound) ? why_not : where_it_holds;
    if (!std::isnan(row.bound) && row.bound > 0)
        row.sentence =
            "The last state uses " + number_text(100 * row.value / row.bound, 2) + " % of the bound.";
    return row;
}

bool only_output_norms(const StackSpec& stack) {
    for (int k = 0; k < 2 * stack.depth; ++k)
        if (!sublayer_rule(stack, k / 2, k % 2 == 0 ? Sublayer::Attention : Sublayer::FeedForward).out)
            return false;
    return true;
}

PreflightRow class_row(const RunData& run) {
    PreflightRow row;
    row.name = "class of growth with depth";
    row.unit = "AICc";
    std::vector<double> layers;
    const std::span<const double> states = values(run, "growth", "ma");
    for (std::size_t k = 0; k < states.size(); k += 2) layers.push_back(states[k]);
    const bool positive =
        std::all_of(layers.begin(), layers.end(), [](double v) { return std::isfinite(v) && v > 0; });
    if (layers.size() < growth_minimum_layers + 1 || !positive) {
        row.word = "undecided";
        row.validity = !positive ? "needs finite hidden states"
                                 : "needs " + std::to_string(growth_minimum_layers) + " layers or more";
        return row;
    }
    const GrowthClass growth = classify_growth(layers);
    const std::string best(growth_model_name(growth.best)), rival(growth_model_name(growth.rival));
    const bool decided = growth.verdict == GrowthClass::Verdict::decided;
    row.word = decided ? best : "undecided";
    row.validity =
        "mean |x| over the layers; a lead under " + text(growth_decisive_lead) + " decides nothing";
    if (!std::isfinite(growth.lead)) {
        row.sentence = "Among the five classes " + best + " has the lowest AICc and no rival.";
        return row;
    }
    row.value = growth.lead;
    row.theory = Theory::Threshold;
    row.bound = growth_decisive_lead;
    row.sentence = decided
                       ? "Of the five classes " + best + " leads " + rival + " by " + text(growth.lead) + "."
                       : "Between " + best + " and " + rival + " the lead is " + text(growth.lead) + ".";
    return row;
}

}  // namespace

PreflightSection forward_growth(const RunData& run) {
    const StackSpec& stack = run.recipe.value("preflight").stack;
    const std::span<const double> rms = values(run, "growth", "rms");
    PreflightSection section{"forward_growth", "Forward growth of the hidden state", {}};

    PreflightRow size;
    size.name = "RMS after the last layer";
    size.value = last(rms);
    if (rms.empty()) {
        size.validity = "growth was not measured";
    } else {
        const auto bad = std::find_if_not(rms.begin(), rms.end(), [](double v) { return std::isfinite(v); });
        if (bad != rms.end()) {
            size.validity = "broken: hidden state " + std::to_string(bad - rms.begin()) + " is not finite";
        } else {
            size.validity = "of all measured tokens";
            size.sentence = "It is " + text(rms.back() / rms.front()) + " times the embedding's " +
                            text(rms.front()) + ".";
        }
    }
    section.rows.push_back(std::move(size));

    const std::string why = why_no_growth_bound(stack);
    const std::string holds = only_output_norms(stack) ? "[K] Thm 4, per sub-layer: for any weights"
                                                       : "from the current weights and norms, per sub-layer";
    section.rows.push_back(bounded(run, "mean |x| after the last layer", "ma", "bound_ma", holds, why));
    section.rows.push_back(bounded(run, "variance after the last layer", "var", "bound_var", holds, why));
    section.rows.push_back(bounded(run, "mean |x|, [K] Thm 4 as stated", "ma", "bound_uniform_ma",
                                   "one γ, β and Δt for the whole stack",
                                   "broken: it needs an output norm on every branch, a = 1 and no gate"));
    section.rows.push_back(bounded(run, "mean |x|, [K] Thm 3 with √d", "ma", "bound_product_ma",
                                   "a product of the weights' norms, never a prediction",
                                   "broken: it needs input norms alone, no biases, β = 0 and serial layers"));
    section.rows.push_back(class_row(run));
    return section;
}

}  // namespace normscope
