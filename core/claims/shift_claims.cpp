// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <cmath>
#include <numbers>

namespace normscope {

namespace {

constexpr int kInputs = 256, kInputTokens = 8;

/// Sequences of the batch's tokens (or patches) in random order: the theorems are about any distribution of
/// inputs.
Batch many_inputs(const Batch& batch) {
    Batch many{kInputs, std::min(kInputTokens, batch.length), {}, {}};
    RandomNumbers random(17);
    for (int i = 0; i < many.sequences * many.length; ++i) {
        const auto at = static_cast<std::size_t>(random.uniform(0, static_cast<double>(batch.tokens.size())));
        const std::size_t row = std::min(at, batch.tokens.size() - 1);
        many.tokens.push_back(batch.tokens[row]);
        const auto width = static_cast<std::ptrdiff_t>(batch.patches.size() / batch.tokens.size()),
                   first = static_cast<std::ptrdiff_t>(row) * width;
        many.patches.insert(many.patches.end(), batch.patches.begin() + first,
                            batch.patches.begin() + first + width);
    }
    return many;
}

/// The probe `shift` of the stack as Peri-LN over 256 inputs.
struct Shift {
    ClaimInput& stack;
    ProbeResult sample;

    explicit Shift(ClaimInput& input)
        : stack(input.with_scheme(Scheme::Peri)),
          sample(stack.quantities().probe("shift", stack.model(), many_inputs(stack.batch()), stack.pool(),
                                          0)) {}
    const std::vector<double>& operator[](const char* array) const { return sample.find(array)->data; }
};

ClaimResult data_variance(ClaimInput& input) {
    const Shift shift(input);
    const std::vector<double>&values = shift["variance_max"], &bounds = shift["variance_bound"];
    Worst worst;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isfinite(bounds[k])) worst.add_bounded(values[k], bounds[k]);
    if (worst.samples < 2) throw NotMeasured("needs a stack with bounded branches");
    return worst.result(holds_if(worst.residual <= 1e-12),
                        shift.stack.variant_name() + std::to_string(kInputs) + " inputs, " +
                            std::to_string(worst.samples) +
                            " hidden states; the largest variance of an entry at the last is " +
                            text(values.back()) + " against " + text(bounds.back()));
}

/// The bound of the paper, p = 2, is √2 times that of Minkowski's inequality.
ClaimResult distribution_shift(ClaimInput& input) {
    const Shift shift(input);
    const std::vector<double>&exact = shift["w2"], &bounds = shift["w2_bound"];
    Worst sharp, stated;
    for (std::size_t k = 1; k < exact.size(); ++k)
        if (std::isfinite(bounds[k])) {
            sharp.add_bounded(exact[k], bounds[k]);
            stated.add_bounded(exact[k], std::numbers::sqrt2 * bounds[k]);
        }
    if (sharp.samples < 2) throw NotMeasured("needs a stack with bounded branches");
    const bool without_factor = sharp.residual <= 1e-12;
    return sharp.result(stated_or_corrected(!without_factor && stated.residual <= 1e-12, without_factor),
                        shift.stack.variant_name() + "exact W₂ by assignment of " + std::to_string(kInputs) +
                            " inputs; at the last hidden state " + text(exact.back()) + " against " +
                            text(bounds.back()) + ", without the factor √2 and without β, which cancels");
}

const Claim kShiftRows[] = {
    {"K10", "Thm 5", "Peri-LN: the variance of an entry over the data ≤ E[R_k²]", ClaimVerdict::Holds,
     data_variance},
    {"K11", "Thm 6", "Peri-LN: W_p(μ_D, ν_D) ≤ 2^((p−1)/p)(Ĉ·W_p + 4D√(nd)γ)", ClaimVerdict::Corrected,
     distribution_shift},
};

}  // namespace

std::span<const Claim> shift_claims() {
    return kShiftRows;
}

}  // namespace normscope
