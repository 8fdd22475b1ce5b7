// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace normscope {

namespace {

using Values = std::vector<double>;

/// Measured gains against their bounds, in the layers that the search visited.
Worst gains_below(const Values& measured, const Values& bounds) {
    Worst worst;
    for (std::size_t k = 0; k < measured.size(); ++k)
        if (std::isfinite(measured[k]) && std::isfinite(bounds[k])) worst.add_bounded(measured[k], bounds[k]);
    if (worst.samples == 0) throw NotMeasured("needs a stack with finite Lipschitz bounds");
    return worst;
}

/// The attention of a small stack whose queries are their bias alone.
ProbeResult query_bias_alone(ClaimInput& input) {
    constexpr int kWidth = 8, kTokens = 5, kVocab = 9;
    StackSpec spec;
    spec.depth = 1;
    spec.d_model = kWidth;
    spec.heads = 2;
    spec.d_ff = 12;
    spec.context = kTokens;
    spec.scheme = Scheme::None;
    complete(spec, kVocab);
    Transformer<double> model(spec, 3);
    HostEdit<double> edit(model.device(), model.parameters().data(), model.parameters().size());
    const HostView<double> now = model.host_parameters();
    if (edit.data() != now.data()) std::copy(now.begin(), now.end(), edit.data());
    // All scores are alike, on a channel that no token has and to which they respond through b_Q alone.
    for (const TensorInfo& t : model.table().tensors())
        for (std::size_t i = 0; i < t.count; ++i) {
            double& w = edit.data()[t.offset + i];
            const bool first = i % kWidth == 0;
            if (t.name.ends_with("attn.wq")) w = 0;
            if (t.name.ends_with("attn.bq")) w = 10;
            if (t.name.ends_with("attn.wk")) w = first ? 1 : 0;
            if (t.name.ends_with("_emb") && first) w = 0;
        }
    edit.commit();
    Batch batch{2, kTokens, {}, {}};
    for (int i = 0; i < batch.sequences * kTokens; ++i) batch.tokens.push_back((7 * i + i / 3) % kVocab);
    return input.quantities().probe("lipschitz", model, batch, input.pool(), 0);
}

ClaimResult attention_bound(ClaimInput& input) {
    const Worst worst =
        gains_below(input.values("lipschitz", "attention_measured"), input.values("lipschitz", "attention"));
    const ProbeResult biased = query_bias_alone(input);
    const double found = biased.find("attention_measured")->data[0],
                 paper = biased.find("attention_paper")->data[0],
                 corrected = biased.find("attention")->data[0];
    const bool within = worst.residual <= 1e-12 && found <= corrected * (1 + 1e-12);
    return worst.result(stated_or_corrected(within && found <= paper, within),
                        "the largest gain that a search found is " + text(worst.value / worst.bound) +
                            " of the bound, in " + std::to_string(worst.samples) +
                            " layers; where queries are their bias alone it is " + text(found) +
                            ", the form without that bias " + text(paper) + ", with it " + text(corrected));
}

ClaimResult bound_over_tokens(ClaimInput& input) {
    const int all = input.batch().length;
    if (all < 8) throw NotMeasured("needs sequences of 8 tokens or more");
    std::vector<Values> weights, totals;
    for (const int n : {all / 4, all / 2, all}) {
        const ProbeResult at = input.quantities().probe("lipschitz", input.model(),
                                                        first_tokens(input.batch(), n), input.pool(), 0);
        weights.push_back(at.find("attention_value")->data);
        totals.push_back(at.find("attention")->data);
    }
    Worst same, grows;
    for (std::size_t n = 1; n < totals.size(); ++n)
        for (std::size_t l = 0; l < totals[n].size(); ++l) {
            same.add_equal(weights[n][l], weights[0][l]);
            grows.add(std::abs(totals[n][l] / totals[0][l] - 1), totals[n][l], totals[0][l]);
        }
    return grows.result(stated_or_corrected(grows.residual <= 1e-12, same.residual <= 1e-12),
                        "its weights do not, within " + text(same.residual) +
                            ", but θ̃ and B are largest values of the data: from " + std::to_string(all / 4) +
                            " to " + std::to_string(all) + " tokens the bound changes by " +
                            text(100 * grows.residual) + " %");
}

/// The paper's form with norm_gain_eps, and the sharper one with the tokens' own σ.
ClaimResult layer_bound(ClaimInput& stack) {
    const Values &measured = stack.values("lipschitz", "layer_measured"),
                 &bounds = stack.values("lipschitz", "layer"),
                 &with_eps = stack.values("lipschitz", "layer_eps");
    const Worst worst = gains_below(measured, bounds), stated = gains_below(measured, with_eps);
    return worst.result(holds_if(worst.residual <= 1e-12 && stated.residual <= 1e-12),
                        stack.variant_name() + std::to_string(worst.samples) +
                            " layers; the tightest has a gain of " + text(worst.value) + " below " +
                            text(worst.bound) + ", or " + text(stated.bound) + " with 1/√ε");
}

ClaimResult pre_layer(ClaimInput& input) {
    return layer_bound(input.with_scheme(Scheme::Pre));
}
ClaimResult post_layer(ClaimInput& input) {
    return layer_bound(input.with_scheme(Scheme::Post));
}

// --- the sensitivity S = (θ/τ)·B²·G of a layer

double mean(const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
/// Standard deviation ÷ mean.
double dispersion(const Values& values) {
    const double at = mean(values);
    double squares = 0;
    for (const double v : values) squares += (v - at) * (v - at);
    return std::sqrt(squares / static_cast<double>(values.size())) / at;
}
/// Spearman's rank correlation with the layer's number; values without ties.
double rank_correlation(const Values& values) {
    const auto n = static_cast<double>(values.size());
    double squares = 0;
    for (std::size_t l = 0; l < values.size(); ++l) {
        const auto below =
            std::count_if(values.begin(), values.end(), [&](double v) { return v < values[l]; });
        squares += std::pow(static_cast<double>(below) - static_cast<double>(l), 2);
    }
    return 1 - 6 * squares / (n * (n * n - 1));
}

const Values& sensitivity(ClaimInput& stack, const char* array) {
    const Values& values = stack.values("lipschitz", array);
    if (values.size() < 4) throw NotMeasured("needs 4 layers or more");
    for (const double v : values)
        if (!(std::isfinite(v) && v > 0)) throw NotMeasured("needs a finite sensitivity");
    return values;
}

/// Of a recorded run, only its own scheme is trained.
std::string compared_at(const ClaimInput& pre, const ClaimInput& post) {
    return "Pre-LN at " + pre.where() + " against Post-LN at " + post.where() + ": ";
}

ClaimResult higher_and_more_dispersed(ClaimInput& input) {
    ClaimInput &pre = input.with_scheme(Scheme::Pre), &post = input.with_scheme(Scheme::Post);
    bool holds[2] = {};
    std::string detail;
    const char* const arrays[] = {"proxy_input", "proxy_stream"};
    for (int i = 0; i < 2; ++i) {
        const Values &a = sensitivity(pre, arrays[i]), &b = sensitivity(post, arrays[i]);
        holds[i] = mean(a) > mean(b) && dispersion(a) > dispersion(b);
        detail += std::string(i ? "; B of the stream: " : "B of the attention's input: ") + "mean " +
                  text(mean(a)) + " against " + text(mean(b)) + ", dispersion " + text(dispersion(a)) +
                  " against " + text(dispersion(b));
    }
    const double value = dispersion(sensitivity(pre, "proxy_stream")),
                 rival = dispersion(sensitivity(post, "proxy_stream"));
    return {stated_or_corrected(holds[0] && holds[1], holds[1]),
            value,
            rival,
            rival - value,
            2 * static_cast<std::int64_t>(sensitivity(pre, "proxy_stream").size()),
            compared_at(pre, post) + detail};
}

ClaimResult rises_with_depth(ClaimInput& input) {
    ClaimInput &pre = input.with_scheme(Scheme::Pre), &post = input.with_scheme(Scheme::Post);
    constexpr double kRises = 0.9, kFlat = 2;  // of the rank correlation, of last ÷ first
    bool holds[2] = {};
    std::string detail;
    const char* const arrays[] = {"proxy_input", "proxy_stream"};
    for (int i = 0; i < 2; ++i) {
        const Values &a = sensitivity(pre, arrays[i]), &b = sensitivity(post, arrays[i]);
        const double up = a.back() / a.front(), flat = b.back() / b.front();
        holds[i] = rank_correlation(a) >= kRises && up > kFlat && flat < kFlat && flat > 1 / kFlat;
        detail += std::string(i ? "; B of the stream: " : "B of the attention's input: ") +
                  "last over first layer " + text(up) + " in Pre-LN (rank correlation with depth " +
                  text(rank_correlation(a)) + "), " + text(flat) + " in Post-LN";
    }
    const Values& rising = sensitivity(pre, "proxy_stream");
    return {stated_or_corrected(holds[0] && holds[1], holds[1]),
            rank_correlation(rising),
            kRises,
            kRises - rank_correlation(rising),
            2 * static_cast<std::int64_t>(rising.size()),
            compared_at(pre, post) + detail};
}

/// Between the layers of one stack; for two steps of a run the identity is the same.
ClaimResult attribution(ClaimInput& input) {
    const Values &s = sensitivity(input, "proxy_stream"),
                 &theta = input.values("lipschitz", "theta_over_tau"),
                 &norm = input.values("lipschitz", "stream_norm"),
                 &projection = input.values("lipschitz", "projection");
    Worst worst;
    for (std::size_t l = 1; l < s.size(); ++l) {
        const auto change = [&](const Values& v) { return std::log(v[l] / v[l - 1]); };
        const double parts = change(theta) + 2 * change(norm) + change(projection);
        worst.add(std::abs(change(s) - parts), change(s), parts);
    }
    return worst.result(holds_if(worst.residual <= 1e-12), "between neighbouring layers, B of the stream");
}

const Claim kLipschitzRows[] = {
    {"E12", "Thm 5.1", "L_MHA ≤ ‖W^O‖Σ(‖W^V_h‖ + θ̃_hΦ_h/τ)", kCorrected, attention_bound, "stack.bias"},
    {"E13", "Thm 5.1", "the bound does not depend on the number of tokens", kCorrected, bound_over_tokens,
     "stack.context"},
    {"E14", "Thm 5.2", "a Pre-LN layer ≤ (1 + Lip·L_MHA)(1 + Lip·L_FFN)", kHolds, pre_layer,
     "stack.norm.eps"},
    {"E15", "Thm 5.3", "a Post-LN layer ≤ Lip²(1 + L_MHA)(1 + L_FFN)", kHolds, post_layer, "stack.norm.eps"},
    {"E34", "Fig 5", "the sensitivity S is higher and more dispersed in Pre-LN", kCorrected,
     higher_and_more_dispersed},
    {"E35", "Fig 6", "S rises with depth in Pre-LN and is flat in Post-LN", kCorrected, rises_with_depth},
    {"E36", "E.6", "Δlog S = Δlog(θ/τ) + 2Δlog B + Δlog G", kHolds, attribution},
};

}  // namespace

std::span<const Claim> lipschitz_claims() {
    return kLipschitzRows;
}

}  // namespace normscope
