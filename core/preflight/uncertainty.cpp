// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/rows.h"

namespace normscope {

using namespace preflight_rows;

namespace {

PreflightRow shifted(const RunData& run, const char* name, const char* array, const char* bound_array,
                     const char* theorem) {
    PreflightRow row;
    row.name = name;
    const std::span<const double> measured = values(run, "shift", array);
    row.value = last(measured);
    row.bound = last(values(run, "shift", bound_array));
    row.theory = Theory::AtMost;
    row.validity = measured.empty()        ? "shift was not measured"
                   : std::isnan(row.bound) ? why_no_growth_bound(run.recipe.value("preflight").stack)
                                           : std::string(theorem) + ", per sub-layer";
    return row;
}

PreflightRow mismatch(const RunData& run, const char* name, const std::string& format, const char* what) {
    PreflightRow row;
    row.name = name;
    const std::span<const double> hidden = values(run, "mismatch", format + "_hidden"),
                                  error = values(run, "mismatch", format + "_hidden_error");
    row.value = last(hidden);
    row.validity = std::string(what) + "; no bound of it holds for any stack";
    if (hidden.empty()) {
        row.validity = "mismatch was not measured";
    } else if (std::isnan(row.value)) {
        row.sentence = "A value is not finite in this format.";
    } else {
        const double logits = last(values(run, "mismatch", format + "_logits"));
        if (!std::isnan(last(error))) row.sentence = "Standard error " + number_text(last(error), 2) + "; ";
        row.sentence +=
            (row.sentence.empty() ? "Of the logits it is " : "of the logits it is ") + text(logits) + ".";
    }
    return row;
}

}  // namespace

PreflightSection uncertainty(const RunData& run) {
    PreflightSection section{"uncertainty", "Uncertainty", {}};
    PreflightRow variance =
        shifted(run, "variance over inputs, largest entry", "variance_max", "variance_bound", "[K] Thm 5");
    const double mean = last(values(run, "shift", "variance_mean"));
    if (!std::isnan(mean))
        variance.sentence = "Its mean over the entries of the last state is " + text(mean) + ".";
    section.rows.push_back(std::move(variance));

    PreflightRow distance =
        shifted(run, "exact W₂, clean to perturbed", "w2", "w2_bound", "[K] Thm 6, p = 2");
    const std::span<const double> w2 = values(run, "shift", "w2");
    if (!w2.empty() && w2.front() > 0 && std::isfinite(w2.back()))
        distance.sentence = "It is " + text(w2.back() / w2.front()) + " times that of the inputs, " +
                            label(run, "shift", "perturbation") + ".";
    // By assignment W₂ could be less; at a few points in so many dimensions it never was.
    const double paired = last(values(run, "shift", "w2_paired")), exact = last(w2);
    if (std::isfinite(exact) && exact > 0)
        distance.sentence +=
            exact >= paired * (1 - 1e-12)
                ? " The best assignment is each sequence to its own perturbed one: it is the paired distance."
                : " Paired, each sequence to its own perturbed one, it is " + text(paired) + ".";
    section.rows.push_back(std::move(distance));

    section.rows.push_back(mismatch(run, "mismatch, all in BF16", "bf16", "every result rounded"));
    section.rows.push_back(mismatch(run, "mismatch, all in FP16", "fp16", "every result rounded"));
    section.rows.push_back(mismatch(run, "mismatch, GEMM alone in BF16", "bf16_autocast", "autocast"));
    return section;
}

}  // namespace normscope
