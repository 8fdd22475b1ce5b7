// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// ‖∂L/∂h‖ over all tokens, after layer 1 over that after the last.
double first_over_last(ClaimInput& stack) {
    const std::vector<double>& hidden = stack.values("gradients", "hidden");
    return hidden[2] / hidden.back();
}
/// The same of the median token.
double median_first_over_last(ClaimInput& stack) {
    return stack.values("transport", "median_token")[2];
}

ClaimResult pre_gradients(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    const double ratio = first_over_last(pre);
    const std::vector<double>& rms = pre.values("growth", "rms");
    const double free = ratio * rms[2] / rms.back();
    return {ClaimVerdict::Toy,
            ratio,
            ClaimResult::kNone,
            free,
            1,
            pre.variant_name() + "at " + pre.where() + " the gradient of all tokens after layer 1 is " +
                text(ratio) + " of that after the last, " + text(median_first_over_last(pre)) +
                " for the median token, and " + text(free) + " in units of the hidden states"};
}

/// The slope, in nat a layer, of the logarithm of the median singular value of the map from the first hidden
/// state to that after each layer, over the first tokens of sequence 0.
double median_singular_value_slope(ClaimInput& stack) {
    std::vector<double> layers, logs;
    const auto& maps = stack.maps().sublayers;
    ClaimInput::Matrix product = ClaimInput::Matrix::Identity(maps.front().rows(), maps.front().cols());
    for (std::size_t k = 0; k + 1 < maps.size(); k += 2) {
        product = maps[k + 1] * (maps[k] * product);
        std::vector<double> values = stack.quantities().singular_values(product);
        const double middle = median(std::move(values));
        if (!(middle > 0 && std::isfinite(middle))) break;  // below what float64 resolves
        layers.push_back(static_cast<double>(layers.size() + 1));
        logs.push_back(std::log(middle));
    }
    if (layers.size() < 2) throw NotMeasured("needs two layers or more with a finite Jacobian");
    return least_squares_slope(layers, logs);
}

/// Exponential decay over the depths: a rate that takes nine tenths over 48 layers, and ratios that show it.
struct Decay {
    std::vector<double> depths, logs;
    double least = std::numeric_limits<double>::infinity();
    std::string table;

    void add(int depth, double ratio) {
        if (!(ratio > 0 && std::isfinite(ratio))) throw NotMeasured("needs finite gradients at step 0");
        depths.push_back(depth);
        logs.push_back(std::log(ratio));
        least = std::min(least, ratio);
        table += (table.empty() ? "" : ", ") + text(ratio) + " at " + std::to_string(depth);
    }
    double rate() const { return least_squares_slope(depths, logs); }  ///< nat a layer
    bool decays() const { return rate() * 48 < -std::log(10.0) && least < 0.1; }
};

ClaimResult post_decay(ClaimInput& input) {
    Decay norm, token;
    double gains = 1, sigma = 0, share = 0;
    for (const int depth : {6, 12, 24, 48}) {
        ClaimInput& post =
            input.variant("with scheme post and depth " + std::to_string(depth), [&](StackSpec& s) {
                s.scheme = Scheme::Post;
                s.layers.clear();
                s.layout = Layout::Serial;
                s.depth = depth;
            });
        norm.add(depth, first_over_last(post));
        token.add(depth, median_first_over_last(post));
        if (depth != 12) continue;
        sigma = median_singular_value_slope(post);
        share = post.values("transport", "first_token_share")[2];
        const std::vector<double>& gain = post.values("null_space", "gain");
        for (std::size_t i = 0; i < gain.size(); ++i)
            if (post.model().sites()[i].place == NormSite::Place::Post) gains *= gain[i];
    }
    // Half of the directions shrink by that factor a layer: a tenth is left of them over 12 layers.
    const bool directions = sigma * 12 < -std::log(10.0);
    return {stated_or_corrected(norm.decays(), directions),
            sigma,
            -std::log(10.0) / 12,
            norm.rate(),
            4,
            "scheme post at step 0: the median singular value changes by e^" + text(sigma) +
                " a layer, half of the directions decay; the gradient after layer 1 over that after the "
                "last is, for the median token, " +
                token.table + " layers, over all tokens " + norm.table + "; token 1 carries " +
                text(100 * share) + " % of it at 12; the product of the gains 1/σ over 12 layers is " +
                text(gains) + ", which the shortcuts give back in part"};
}

ClaimResult layer_norms(ClaimInput& input) {
    std::string detail;
    double medians[2] = {};
    for (const Scheme scheme : {Scheme::Pre, Scheme::Post}) {
        ClaimInput& stack = input.with_scheme(scheme);
        std::vector<double> tops;
        for (int l = 0; l < stack.spec().depth; ++l) {
            const auto k = 2 * static_cast<std::size_t>(l);
            const auto& maps = stack.maps().sublayers;
            tops.push_back(stack.quantities().singular_values(maps[k + 1] * maps[k]).front());
        }
        std::sort(tops.begin(), tops.end());
        medians[scheme == Scheme::Post] = upper_median(tops);
        detail += std::string(detail.empty() ? "" : "; ") + scheme_row(scheme).title + " " +
                  text(tops.front()) + " to " + text(tops.back()) + ", median " + text(upper_median(tops));
    }
    return {ClaimVerdict::Toy,
            medians[0],
            medians[1],
            ClaimResult::kNone,
            2 * input.spec().depth,
            "spectral norms of the layers, Pre-LN at " + input.with_scheme(Scheme::Pre).where() +
                ", Post-LN at " + input.with_scheme(Scheme::Post).where() + ", the first " +
                std::to_string(input.with_scheme(Scheme::Pre).maps().tokens) + " tokens: " + detail};
}

const Claim kGradientRows[] = {
    {"E18", "Thm 5.4 (iii)", "gradients of Pre-LN do not vanish with depth", ClaimVerdict::Toy, pre_gradients,
     "stack.depth"},
    {"E20", "Thm 5.5", "gradients of Post-LN decay exponentially along certain directions",
     ClaimVerdict::Corrected, post_decay, "stack.residual_step"},
    {"E22", "§5.2", "the layers of Pre-LN and Post-LN have similar spectral norms", ClaimVerdict::Toy,
     layer_norms, "stack.residual_step"},
};

}  // namespace

std::span<const Claim> gradient_claims() {
    return kGradientRows;
}

}  // namespace normscope
