// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

using Vector = Eigen::VectorXd;

/// value <= bound at every hidden state that has a bound, with a slack for round-off.
ClaimResult bounded_growth(ClaimInput& stack, const char* value, const char* bound) {
    const std::vector<double>&values = stack.values("growth", value), &bounds = stack.values("growth", bound);
    Worst worst;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isfinite(bounds[k])) worst.add_bounded(values[k], bounds[k]);
    if (worst.samples < 2) throw NotMeasured("needs a stack with bounded branches");
    return worst.result(holds_if(worst.residual <= 1e-12),
                        stack.variant_name() + std::to_string(worst.samples) +
                            " hidden states; at the last " + text(values.back()) + " against " +
                            text(bounds.back()));
}

ClaimResult peri_mean(ClaimInput& input) {
    return bounded_growth(input.with_scheme(Scheme::Peri), "ma", "bound_ma");
}
ClaimResult peri_variance(ClaimInput& input) {
    return bounded_growth(input.with_scheme(Scheme::Peri), "var", "bound_var");
}

ClaimResult pre_unbounded(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    ClaimResult result = bounded_growth(pre, "ma", "bound_ma");
    if (result.verdict == ClaimVerdict::Fails) return result;
    result.verdict = ClaimVerdict::NotApplicable;
    result.detail =
        "an optimum cannot be measured; with bounded weights the growth per token is at most linear, " +
        result.detail;
    return result;
}

/// The class of MA over the layers' outputs.
GrowthClass growth_of(ClaimInput& stack, const char* array) {
    std::vector<double> layers;
    const std::vector<double>& states = stack.values("growth", array);
    for (std::size_t k = 0; k < states.size(); k += 2) layers.push_back(states[k]);
    if (layers.size() < growth_minimum_layers)
        throw NotMeasured("needs " + std::to_string(growth_minimum_layers - 1) + " layers or more");
    for (const double v : layers)
        if (!(std::isfinite(v) && v > 0)) throw NotMeasured("needs finite hidden states");
    return stack.quantities().growth_class(layers);
}

std::string class_text(const GrowthClass& growth) {
    const std::string best(growth_model_name(growth.best));
    if (growth.verdict == GrowthClass::Verdict::decided)
        return best + ", " +
               (std::isfinite(growth.lead)
                    ? text(growth.lead) + " of AICc before " + std::string(growth_model_name(growth.rival))
                    : "without a rival");
    return "undecided between " + best + " and " + std::string(growth_model_name(growth.rival));
}

/// An upper bound: how far below it the growth stays is reported and refutes nothing.
ClaimResult at_most_exponential(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    ClaimResult result = bounded_growth(pre, "ma", "bound_product_ma");
    result.detail += ", (1 + C√d)^k; class " + class_text(growth_of(pre, "ma")) + " at " + pre.where();
    return result;
}

/// Whether a class is above the linear one, and the layers say so.
bool grows_faster_than_linear(const GrowthClass& growth) {
    const double rate = growth.fits[static_cast<std::size_t>(GrowthModel::exponential)].parameters[1];
    return growth.verdict == GrowthClass::Verdict::decided &&
           (growth.best == GrowthModel::quadratic || (growth.best == GrowthModel::exponential && rate > 0));
}

ClaimResult peri_at_most_linear(ClaimInput& input) {
    ClaimInput& peri = input.with_scheme(Scheme::Peri);
    ClaimResult result = bounded_growth(peri, "ma", "bound_ma");
    const GrowthClass growth = growth_of(peri, "ma");
    if (grows_faster_than_linear(growth)) result.verdict = ClaimVerdict::Fails;
    const std::vector<double>& rms = peri.values("growth", "rms");
    const double step = peri.spec().residual_step, states = static_cast<double>(rms.size() - 1);
    const double model = std::sqrt(rms.front() * rms.front() + states * step * step);
    result.detail += "; class " + class_text(growth) + " at " + peri.where() + "; the last RMS is " +
                     text(rms.back()) + ", √(v₀ + 2ℓΔt²) gives " + text(model);
    return result;
}

/// The paper's figure is of a trained model of 1B parameters.
ClaimResult variance_class(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    const GrowthClass growth = growth_of(pre, "var");
    const double exponential = growth.fits[static_cast<std::size_t>(GrowthModel::exponential)].aicc,
                 best = growth.fits[static_cast<std::size_t>(growth.best)].aicc;
    const std::vector<double>& values = pre.values("growth", "var");
    return {
        ClaimVerdict::Toy,
        exponential,
        best,
        ClaimResult::kNone,
        static_cast<std::int64_t>(values.size() / 2 + 1),
        pre.variant_name() + "the variance from " + text(values.front()) + " to " + text(values.back()) +
            " over the layers at " + pre.where() + ", class " + class_text(growth) +
            " (value, bound: AICc of the exponential and of the best); the paper's is of a trained model"};
}

/// One token, one sub-layer whose map is c·I: the paper's factor lacks √d.
ClaimResult product_bound(ClaimInput& input) {
    const auto& q = input.quantities();
    Worst paper, corrected;
    RandomNumbers random(5);
    for (int i = 0; i < 50; ++i) {
        const auto d = static_cast<std::size_t>(4 + 4 * (i % 8));
        NormAtToken at{NormKind::RmsNorm, random.normals(d, random.uniform(0.05, 2)), {}, {}, 0};
        const double gain = random.uniform(0.1, 2);
        const std::vector<double> u = q.norm(at);
        const Vector x = Eigen::Map<const Vector>(at.x.data(), static_cast<Eigen::Index>(d));
        const double after = (x + gain * Eigen::Map<const Vector>(u.data(), x.size())).norm();
        PreNormSublayer sublayer;
        sublayer.smallest_token_norm = x.norm();
        sublayer.gain = gain;
        const double bound = q.product_bounds(x.norm(), 1, d, std::vector{sublayer}).back();
        corrected.add_bounded(after, bound);
        sublayer.gain = gain / std::sqrt(static_cast<double>(d));
        paper.add_bounded(after, q.product_bounds(x.norm(), 1, d, std::vector{sublayer}).back());
    }
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    const std::vector<double>&ma = pre.values("growth", "ma"),
          &bound = pre.values("growth", "bound_product_ma");
    double loose = ClaimResult::kNone;
    for (std::size_t k = 0; k < ma.size(); ++k) {
        if (!std::isfinite(bound[k])) continue;
        corrected.add_bounded(ma[k], bound[k]);
        loose = std::log10(bound[k] / ma[k]);
    }
    return paper.result(stated_or_corrected(paper.residual <= 1e-12, corrected.residual <= 1e-12),
                        "one token through x + c·RMSNorm(x) grows to " + text(paper.value) +
                            ", the paper's factor allows " + text(paper.bound) + "; with √d it holds, " +
                            pre.variant_name() +
                            (std::isnan(loose) ? "no bound applies" : text(loose) + " decades above MA"));
}

/// The stack with that scheme and step.
ClaimInput& with_step(ClaimInput& input, Scheme scheme, double step) {
    return input.variant(std::string("with scheme ") + scheme_row(scheme).word + " and Δt " + text(step),
                         [&](StackSpec& s) {
                             s.scheme = scheme;
                             s.layers.clear();
                             s.layout = Layout::Serial;
                             s.residual_step = step;
                         });
}

ClaimResult affine_in_step(ClaimInput& input) {
    std::vector<std::vector<double>> bounds, measured;
    for (const double step : {0.1, 0.4, 0.7}) {
        ClaimInput& stack = with_step(input, Scheme::Peri, step);
        bounds.push_back(stack.values("growth", "bound_ma"));
        measured.push_back(stack.values("growth", "ma"));
    }
    Worst affine;
    for (std::size_t k = 1; k < bounds[0].size(); ++k) {
        const double middle = (bounds[0][k] + bounds[2][k]) / 2;
        affine.add_equal(bounds[1][k], middle);
    }
    const bool rises = measured[0].back() < measured[1].back() && measured[1].back() < measured[2].back();
    return affine.result(holds_if(affine.residual <= 1e-12 && rises),
                         "scheme peri, Δt 0.1, 0.4, 0.7: the bound is affine in Δt within " +
                             text(affine.residual) + ", and MA of the last state rises from " +
                             text(measured[0].back()) + " to " + text(measured[2].back()));
}

ClaimResult small_step_lowers(ClaimInput& input) {
    const double step = 0.1;
    ClaimInput &small = with_step(input, Scheme::Pre, step), &one = with_step(input, Scheme::Pre, 1);
    Worst worst;
    for (const char* array : {"ma", "var"}) {
        const std::vector<double>&a = small.values("growth", array), &b = one.values("growth", array);
        for (std::size_t k = 2; k < a.size(); k += 2) worst.add_bounded(a[k], b[k]);
    }
    return worst.result(holds_if(worst.residual < 0),
                        "scheme pre at step 0, MA and variance after every layer; the last RMS falls from " +
                            text(one.values("growth", "rms").back()) + " to " +
                            text(small.values("growth", "rms").back()));
}

const Claim kGrowthRows[] = {
    {"K04", "Thm 2", "an optimum of Pre-LN training is unbounded", ClaimVerdict::NotApplicable,
     pre_unbounded},
    {"K05", "Thm 3", "MA ≤ (1 + C)^D‖X₀‖/√(nd) for Pre-LN attention", ClaimVerdict::Corrected, product_bound},
    {"K06", "Thm 3", "the hidden state of Pre-LN grows at most exponentially with depth", kHolds,
     at_most_exponential, "stack.residual_step"},
    {"K07", "Thm 4 (11)", "Peri-LN: MA ≤ R_k/√(nd)", kHolds, peri_mean, "stack.residual_step"},
    {"K08", "Thm 4 (12)", "Peri-LN: Var ≤ R_k²/(nd − 1)", kHolds, peri_variance, "stack.residual_step"},
    {"K09", "Thm 4", "MA of Peri-LN grows at most linearly with depth", kHolds, peri_at_most_linear,
     "stack.residual_step"},
    {"K16", "(17)", "Δt scales the bounds of growth", kHolds, affine_in_step, "stack.residual_step"},
    {"K20", "Fig 1", "Δt = 0.1 lowers MA and variance after every layer", kHolds, small_step_lowers,
     "stack.residual_step"},
    {"G10", "Fig 4a", "in a trained Pre-LN the variance grows exponentially with depth", ClaimVerdict::Toy,
     variance_class, "stack.residual_step"},
};

}  // namespace

std::span<const Claim> growth_claims() {
    return kGrowthRows;
}

}  // namespace normscope
