// SPDX-License-Identifier: GPL-3.0-or-later
// The three experiments of [B].
#include "core/backend/shared/counter_rng.h"
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/run/interventions/norm_eps.h"
#include "core/sweep/statistics/lead.h"
#include "core/sweep/statistics/scatter.h"
#include "core/theory/norm_precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace normscope {

namespace {

constexpr std::array<std::pair<const char*, double>, 2> kFragilityFormats{
    {{"bf16_logits", kUnitRoundOffBf16}, {"fp16_logits", kUnitRoundOffFp16}}};

/// Points of the predictor, and of the unit round-off alone, against the measured error.
struct PredictorPoints {
    std::vector<ScatterPoint> predicted, alone;
    std::string from;

    void add(const ProbeResult& fragility, const ProbeResult& mismatch) {
        const double total = fragility.find("total_v1")->data.front();
        for (const auto& [array, unit] : kFragilityFormats) {
            const double error = mismatch.find(array)->data.front();
            if (!(total > 0 && error > 0 && std::isfinite(total) && std::isfinite(error))) continue;
            predicted.push_back({unit * total, error, 0});
            alone.push_back({unit, error, 0});
        }
    }
};

const ProbeResult* sample_at(const RunData& run, const char* probe, std::int64_t step) {
    return run.probes.contains(probe) ? run.sample_of(probe, step) : nullptr;
}

/// Of a recording every step at which both probes were measured; else this stack at step 0, and half as
/// wide.
PredictorPoints predictor_points(ClaimInput& input) {
    PredictorPoints points;
    if (const RunData* run = input.run(); run && run->probes.contains("fragility")) {
        for (const ProbeResult& sample : run->probes.at("fragility"))
            if (const ProbeResult* mismatch = sample_at(*run, "mismatch", sample.step))
                if (!lacks_entries(sample, *sample.find("total_v1"))) points.add(sample, *mismatch);
        points.from = "steps of the run";
    }
    if (points.predicted.size() >= 4) return points;
    points = {};
    points.add(input.probe("fragility"), input.probe("mismatch"));
    points.from = "the stack";
    const StackSpec& spec = input.spec();
    if (spec.head_width == 0 && spec.d_model % (4 * spec.heads) == 0 && spec.d_ff % 2 == 0) {
        ClaimInput& half = input.variant("half as wide", [](StackSpec& s) {
            s.d_model /= 2;
            s.d_ff /= 2;
        });
        points.add(half.probe("fragility"), half.probe("mismatch"));
        points.from += " and half its width";
    }
    return points;
}

ClaimResult predictor_correlates(ClaimInput& input) {
    const PredictorPoints points = predictor_points(input);
    if (points.predicted.size() < 2) return needs("finite passes in BF16 and FP16");
    const double with = scatter_statistic(points.predicted, ScatterStatistic::Pearson),
                 alone = scatter_statistic(points.alone, ScatterStatistic::Pearson),
                 slope = scatter_statistic(points.predicted, ScatterStatistic::Slope);
    ClaimResult result;
    result.verdict = ClaimVerdict::Toy;
    result.value = with;
    result.bound = alone;
    result.residual = alone - with;
    result.samples = static_cast<std::int64_t>(points.predicted.size());
    result.detail = "BF16 and FP16 of " + points.from + ": Pearson of the logarithms " + text(with) +
                    " with u·predictor, slope " + text(slope) + ", and " + text(alone) + " with u alone";
    return result;
}

/// Precision@K of two series of noise that have nothing in common, over as many samples as the paper has.
ClaimResult softmax_leads(ClaimInput& input) {
    constexpr std::size_t kSamples = 195, kTrials = 200;
    constexpr double kStated = 0.89;  // the least of the paper's Precision@K
    double base = 0, least = 1, most = 0;
    std::size_t reached = 0;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        std::vector<double> x(kSamples), y(kSamples);
        fill_normal_row({2 * trial, "noise"}, 0, 0, kSamples, 1, x.data());
        fill_normal_row({2 * trial + 1, "noise"}, 0, 0, kSamples, 1, y.data());
        const SpikeForecast forecast = input.quantities().spike_forecast(x, y);
        base += forecast.base_rate / kTrials;
        least = std::min(least, forecast.base_rate);
        most = std::max(most, forecast.base_rate);
        reached += forecast.precision >= kStated;
    }
    const double share = static_cast<double>(reached) / kTrials;
    ClaimResult result{refuted_if(share > 0.05),           share, 0.05, share - 0.05,
                       static_cast<std::int64_t>(kTrials), ""};
    result.detail = "of two series of noise a Precision@K of 0.89 and more is reached in " +
                    text(100 * share) + " % of " + std::to_string(kTrials) + " trials: the base rate is " +
                    text(base) + " there, from " + text(least) + " to " + text(most);
    const RunData* run = input.run();
    if (!run || !run->probes.contains("fragility")) return result;
    std::vector<double> ahead, error;
    for (const ProbeResult& sample : run->probes.at("fragility")) {
        const ProbeResult* mismatch = sample_at(*run, "mismatch", sample.step);
        const NamedArray* softmax = sample.find("kappa_softmax");
        if (!mismatch || lacks_entries(sample, *softmax)) continue;
        ahead.push_back(*std::max_element(softmax->data.begin(), softmax->data.end()));
        error.push_back(mismatch->find("fp16_logits")->data.front());
    }
    if (const SpikeForecast own = spike_forecast(ahead, error); !std::isnan(own.precision))
        result.detail += "; the run: " + text(own.precision) + ", base rate " + text(own.base_rate);
    constexpr std::size_t kLag = 16;
    if (const LeadLag lead = lead_lag(ahead, error, kLag); !std::isnan(lead.p))
        result.detail += ", largest correlation " + text(lead.correlation) + " at " +
                         std::to_string(lead.lag) + " samples, p " + text(lead.p);
    return result;
}

/// The rule on one norm at ρ_LN = 0.01, 0.02, … 0.99.
ClaimResult eps_rule(ClaimInput& input) {
    const InterventionSpec spec{InterventionKind::NormEps, 0.6, 1, 0, 1, 1};
    constexpr double kVariance = 1e-3, kUnit = kUnitRoundOffFp16;
    constexpr std::size_t kWidth = 64;
    const auto rho_of = [&](double eps) { return input.quantities().rho_ln(kVariance, eps, kWidth, kUnit); };
    std::int64_t arrived = 0, unmoved = 0, below = 0, above = 0;
    for (int percent = 1; percent < 100; ++percent) {
        const double eps = kVariance * kWidth * kUnit / (percent / 100.0), before = rho_of(eps);
        InterventionInput norm{0, kUnit, 0, {{0, eps, kWidth}}, [](int) { return std::vector{kVariance}; },
                               {}};
        const double after = rho_of(NormEps(spec).eps(norm).front());
        (before > spec.rho ? above : below) += 1;
        if (before > spec.rho)
            arrived += std::abs(after - spec.rho) < 1e-9;
        else
            unmoved += after == before;
    }
    ClaimResult result{refuted_if(unmoved == below && below > 0, arrived == above && above > 0),
                       static_cast<double>(unmoved),
                       0,
                       static_cast<double>(unmoved),
                       below + above,
                       ""};
    result.detail = "target 0.6: from above it " + std::to_string(arrived) + " of " + std::to_string(above) +
                    " values of ρ_LN fall to it, from below " + std::to_string(unmoved) + " of " +
                    std::to_string(below) + " stay: ε never falls, so ρ_LN never rises";
    return result;
}

const Claim kFragilityRows[] = {
    {"B10", "Exp-1", "the predictor times u correlates with the mismatch", ClaimVerdict::Toy,
     predictor_correlates, "precision"},
    {"B11", "Exp-2", "κ_softmax leads errors by 16 to 24 steps", kFails, softmax_leads, "precision"},
    {"B12", "Exp-3", "the ε rule steers ρ_LN to its target", kFails, eps_rule, "stack.norm.eps"},
};

}  // namespace

std::span<const Claim> fragility_claims() {
    return kFragilityRows;
}

}  // namespace normscope
