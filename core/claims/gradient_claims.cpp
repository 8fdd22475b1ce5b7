// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// ‖∂L/∂h‖ after layer 1 over that after the last.
double first_over_last(ClaimInput& stack) {
    const std::vector<double>& hidden = stack.values("gradients", "hidden");
    return hidden[2] / hidden.back();
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
            pre.variant_name() + "at " + pre.where() + " the gradient after layer 1 is " + text(ratio) +
                " of that after the last, and " + text(free) + " of it in units of the hidden states"};
}

ClaimResult post_decay(ClaimInput& input) {
    std::vector<double> depths, logs;
    std::string table;
    double most = 0, least = std::numeric_limits<double>::infinity(), gains = 1;
    for (const int depth : {6, 12, 24, 48}) {
        ClaimInput& post =
            input.variant("with scheme post and depth " + std::to_string(depth), [&](StackSpec& s) {
                s.scheme = Scheme::Post;
                s.layers.clear();
                s.layout = Layout::Serial;
                s.depth = depth;
            });
        const double ratio = first_over_last(post);
        if (!(ratio > 0 && std::isfinite(ratio))) throw NotMeasured("needs finite gradients at step 0");
        depths.push_back(depth);
        logs.push_back(std::log(ratio));
        most = std::max(most, ratio);
        least = std::min(least, ratio);
        table += (table.empty() ? "" : ", ") + text(ratio) + " at " + std::to_string(depth);
        if (depth != 12) continue;
        const std::vector<double>& gain = post.values("null_space", "gain");
        for (std::size_t i = 0; i < gain.size(); ++i)
            if (post.model().sites()[i].place == NormSite::Place::Post) gains *= gain[i];
    }
    const double rate = slope(depths, logs);  // nat a layer
    // Exponential decay: a rate that takes a tenth over the 48 layers at least, and the ratios show it.
    const bool decays = rate * 48 < -std::log(10.0) && least < 0.1;
    return {refuted_if(!decays),
            least,
            0.1,
            rate,
            4,
            "scheme post at step 0, gradient after layer 1 over that after the last: " + table +
                " layers; the product of the gains 1/σ over 12 layers is " + text(gains) +
                ", which the shortcuts give back"};
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
            "spectral norms of the layers at " + input.where() + ", the first " +
                std::to_string(input.with_scheme(Scheme::Pre).maps().tokens) + " tokens: " + detail};
}

const Claim kGradientRows[] = {
    {"E18", "Thm 5.4 (iii)", "gradients of Pre-LN do not vanish with depth", ClaimVerdict::Toy, pre_gradients,
     "stack.depth"},
    {"E20", "Thm 5.5", "gradients of Post-LN decay exponentially, as every path passes J_LN",
     ClaimVerdict::Fails, post_decay, "stack.residual_step"},
    {"E22", "§5.2", "the layers of Pre-LN and Post-LN have similar spectral norms", ClaimVerdict::Toy,
     layer_norms, "stack.residual_step"},
};

}  // namespace

std::span<const Claim> gradient_claims() {
    return kGradientRows;
}

}  // namespace normscope
