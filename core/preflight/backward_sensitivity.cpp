// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gradient_ratio.h"
#include "core/preflight/rows.h"

#include <algorithm>

namespace normscope {

using namespace preflight_rows;

namespace {

PreflightRow gradient_row(const RunData& run) {
    PreflightRow row;
    row.name = "gradient, first over last layer";
    const std::span<const double> norms = values(run, "gradients", "hidden");
    if (norms.size() < 3) {
        row.validity = "gradients was not measured";
        return row;
    }
    row.value = gradient_ratio(norms);
    row.validity = "of the held-out loss; no theorem gives its value";
    row.sentence =
        "‖∂L/∂h‖ is " + text(norms[2]) + " after layer 1 and " + text(norms.back()) + " after the last.";
    return row;
}

/// The ends of the spectrum of the whole stack: of the map of all tokens, or of one token's block.
void add_spectrum(const RunData& run, std::vector<PreflightRow>& rows) {
    const std::span<const double> full = values(run, "jacobian", "full_end_to_end"),
                                  block = values(run, "jacobian", "end_to_end_sv");
    const bool all_tokens = full.size() == 2 && std::isfinite(full[0]);
    PreflightRow top, bottom, ratio;
    top.name = "σ_max, embedding to last state";
    bottom.name = "σ_min, embedding to last state";
    ratio.name = "σ_max ÷ σ_min";
    if (all_tokens) {
        top.value = full[0];
        bottom.value = full[1];
    } else if (!block.empty()) {
        top.value = block.front();
        bottom.value = block.back();
    }
    std::string of = all_tokens ? "map of all tokens, " + label(run, "jacobian", "full_map")
                                : "one token's block, " + label(run, "jacobian", "block");
    if (std::isnan(top.value)) of = "the spectrum was not measured at this size";
    top.validity = bottom.validity = ratio.validity = of;
    const std::span<const double> errors = values(run, "jacobian", "full_end_to_end_error");
    if (all_tokens && errors.size() == 2) {
        top.sentence = "Known within " + number_text(errors[0], 2) + ".";
        if (errors[1] < bottom.value) {
            bottom.sentence = "Known within " + number_text(errors[1], 2) + ".";
        } else if (bottom.value > 0) {
            // The search reaches the large values; a number that may be off by itself is none.
            bottom.word = "below " + text(bottom.value) + ", not resolved";
            ratio.word = "above " + text(top.value / bottom.value) + ", not resolved";
            bottom.sentence = "A search found a direction with that gain; smaller ones were not excluded.";
            bottom.value = PreflightRow::kNone;
        }
    }
    if (bottom.value == 0 && last(values(run, "jacobian", "end_to_end_exact_nulls")) > 0) {
        bottom.sentence = "An exact null of the structure.";
        ratio.word = "infinite";
        ratio.sentence.clear();
    }
    if (bottom.value > 0) ratio.value = top.value / bottom.value;
    rows.push_back(std::move(top));
    rows.push_back(std::move(bottom));
    rows.push_back(std::move(ratio));
}

/// The layer whose largest gain found is largest, with its bound.
PreflightRow lipschitz_row(const RunData& run) {
    PreflightRow row;
    row.name = "largest gain found of a layer";
    const std::span<const double> found = values(run, "lipschitz", "layer_measured"),
                                  bounds = values(run, "lipschitz", "layer"),
                                  paper = values(run, "lipschitz", "layer_eps");
    std::size_t most = found.size();
    for (std::size_t l = 0; l < found.size(); ++l)
        if (std::isfinite(found[l]) && (most == found.size() || found[l] > found[most])) most = l;
    if (most == found.size()) {
        row.validity = "no layer's gain was measured";
        return row;
    }
    row.value = found[most];
    row.theory = Theory::AtMost;
    row.bound = bounds[most];
    row.validity = "block-∞/RMS norm, at these inputs; searched: " + label(run, "lipschitz", "measured");
    row.sentence = "Layer " + std::to_string(most + 1) +
                   "; with 1/√ε for each norm's gain, as in [E], the bound is " + text(paper[most]) + ".";
    return row;
}

PreflightRow branch_row(const RunData& run) {
    PreflightRow row;
    row.name = "largest ‖J − a·I‖₂ of a sub-layer";
    const std::span<const double> norms = values(run, "jacobian", "branch_norm");
    std::size_t most = norms.size(), measured = 0;
    for (std::size_t k = 0; k < norms.size(); ++k) {
        if (!std::isfinite(norms[k])) continue;
        ++measured;
        if (most == norms.size() || norms[k] > norms[most]) most = k;
    }
    if (measured == 0) {
        row.validity = "broken: [N] Thm 4.6 is about sums that are not normed again";
        return row;
    }
    row.value = norms[most];
    row.theory = Theory::Threshold;
    row.bound = 1;
    row.validity = row.value < 1 ? "one token's block; [N] Thm 4.6: σ_min ≥ 1 − ‖A‖ where a = 1"
                                 : "broken: [N] Thm 4.6 bounds σ_min only where it is under 1";
    row.sentence = "At " + sublayer_text(most) + ", of " + std::to_string(measured) + " measured.";
    return row;
}

PreflightRow null_row(const RunData& run, const StackSpec& stack) {
    PreflightRow row;
    row.name = "exact nulls, embedding to last state";
    row.value = last(values(run, "jacobian", "end_to_end_exact_nulls"));
    row.unit = "of " + std::to_string(stack.d_model);
    row.validity =
        std::isnan(row.value) ? "not measured at this size" : "one token's block; from the structure";
    const std::span<const double> all = values(run, "jacobian", "exact_nulls");
    const auto forced = std::count_if(all.begin(), all.end(), [](double nulls) { return nulls > 0; });
    if (!std::isnan(row.value))
        row.sentence = forced == 0 ? "No norm of the stack forces one."
                                   : "The norms force some in " + std::to_string(forced) + " of " +
                                         std::to_string(all.size()) + " sub-layers.";
    return row;
}

PreflightRow erased_row(const RunData& run, const StackSpec& stack) {
    PreflightRow row;
    row.name = "largest gradient share a norm erases";
    const std::span<const double> shares = values(run, "null_space", "erased_backward");
    const ProbeResult* sample = run.sample_of("null_space", 0);
    std::size_t most = shares.size();
    for (std::size_t s = 0; s < shares.size(); ++s)
        if (std::isfinite(shares[s]) && (most == shares.size() || shares[s] > shares[most])) most = s;
    if (most == shares.size()) {
        row.validity = shares.empty() ? "the stack has no norm" : "no share is defined";
        return row;
    }
    const bool layer_norm = stack.norm.kind == NormKind::LayerNorm;
    row.value = shares[most];
    row.theory = Theory::Reference;
    row.bound = (layer_norm ? 2.0 : 1.0) / stack.d_model;
    row.validity = layer_norm ? "2/d: of a random gradient, γ without zeros"
                              : "1/d: of a random gradient, γ without zeros";
    const auto sites = sample->labels.find("sites");
    if (sites != sample->labels.end() && most < sites->second.size())
        row.sentence = "At " + sites->second[most] + ".";
    return row;
}

}  // namespace

PreflightSection backward_sensitivity(const RunData& run) {
    const StackSpec& stack = run.recipe.value("preflight").stack;
    PreflightSection section{"backward_sensitivity", "Backward sensitivity", {}};
    section.rows.push_back(gradient_row(run));
    add_spectrum(run, section.rows);
    section.rows.push_back(lipschitz_row(run));
    section.rows.push_back(branch_row(run));
    section.rows.push_back(null_row(run, stack));
    section.rows.push_back(erased_row(run, stack));
    return section;
}

}  // namespace normscope
