// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/theory/norm_precision.h"

#include <bit>
#include <cmath>

namespace normscope {

namespace {

ClaimResult round_off(ClaimInput& input) {
    const auto& q = input.quantities();
    constexpr double kUnitRoundOffFp32 = 0x1p-24;
    double bf16 = 0, fp16 = 0, fp32 = 0;
    std::int64_t samples = 0;
    // Every third float of [1, 2): with the exponent's scale, all normal numbers.
    for (std::uint32_t bits = 0x3f800000u; bits < 0x40000000u; bits += 3) {
        const auto x = std::bit_cast<float>(bits);
        const auto off = [&](Rounding to) { return std::abs(static_cast<double>(q.rounded(to, x)) - x) / x; };
        bf16 = std::max(bf16, off(Rounding::Bf16));
        fp16 = std::max(fp16, off(Rounding::Fp16));
        const double between = x + 0x1p-24 * (1 - 0x1p-10);  // nearly half way to the next float
        fp32 = std::max(fp32, std::abs(static_cast<double>(q.to_float(between)) - between) / between);
        ++samples;
    }
    Worst worst;
    worst.add_bounded(bf16, kUnitRoundOffBf16);
    worst.add_bounded(fp16, kUnitRoundOffFp16);
    worst.add_bounded(fp32, kUnitRoundOffFp32);
    const bool attained =
        bf16 > 0.99 * kUnitRoundOffBf16 && fp16 > 0.99 * kUnitRoundOffFp16 && fp32 > 0.99 * kUnitRoundOffFp32;
    ClaimResult result =
        worst.result(holds_if(worst.residual <= 0 && attained),
                     "largest relative error of rounding: BF16 " + text(bf16) + ", FP16 " + text(fp16) +
                         ", FP32 " + text(fp32) + ", over every third float of [1, 2)");
    result.samples = samples;
    return result;
}

/// V = [I; −I] and p nearly uniform: PV is nearly 0, which κ(V) = 1 does not see. Queries and keys of one
/// channel, so κ_score = 1; the probabilities are rounded to FP16.
ClaimResult output_error(ClaimInput& input) {
    constexpr int kHalf = 4;
    Worst paper, corrected;
    RandomNumbers random(3);
    for (int i = 0; i < 10; ++i) {
        Eigen::VectorXd logits(2 * kHalf), stored(2 * kHalf);
        for (double& z : logits) z = 1e-2 * std::pow(0.5, i) * random.normal();
        Eigen::VectorXd p = logits.array().exp();
        p /= p.sum();
        for (int k = 0; k < 2 * kHalf; ++k)
            stored(k) = input.quantities().rounded(Rounding::Fp16, static_cast<float>(p(k)));
        const Eigen::VectorXd exact = p.head(kHalf) - p.tail(kHalf),
                              off = stored.head(kHalf) - stored.tail(kHalf) - exact;
        const double kappa_softmax =
            input.quantities().softmax_norm({p.data(), 2 * kHalf}) * logits.norm() / p.norm();
        const double scale = kUnitRoundOffFp16 * (2 * kappa_softmax + 1), error = off.norm() / exact.norm(),
                     kappa_val = p.norm() * std::sqrt(2.0) / exact.norm();  // ‖V‖ = √2
        paper.add(error / scale, error, scale);
        corrected.add(error / (scale * kappa_val));
    }
    // The theorem leaves its constant open; it comes from sums over 8 entries.
    constexpr double kConstant = 100;
    const bool reference = corrected.residual <= kConstant;
    return paper.result(
        refuted_if(paper.residual > kConstant, reference),
        reference
            ? "V = [I; −I], κ(V) = 1, p nearly uniform and rounded to FP16: the output's "
              "relative error is " +
                  text(paper.value) + ", which needs a constant of " + text(paper.residual) +
                  "; with κ_val = ‖P‖‖V‖/‖PV‖ in place of κ(V) " + text(corrected.residual) + " is enough"
            : "needs a bound with κ_val that holds: its constant is " + text(corrected.residual));
}

/// The error of the hidden state in BF16, same weights and batch, after layer 1 and after the last, under
/// both policies.
ClaimResult mismatch_over_depth(ClaimInput& input) {
    if (input.spec().depth < 2) return not_applicable("one layer");
    const auto growth = [&](const char* array, double& first, double& last) {
        const std::vector<double>& errors = input.values("mismatch", array);
        first = errors.at(2);
        last = errors.back();
        return last / first;
    };
    double pure_first = 0, pure_last = 0, autocast_first = 0, autocast_last = 0;
    const double pure = growth("bf16_hidden", pure_first, pure_last),
                 autocast = growth("bf16_autocast_hidden", autocast_first, autocast_last);
    if (!std::isfinite(pure) || !std::isfinite(autocast)) return needs("a finite pass in BF16");
    ClaimResult result;
    result.verdict = ClaimVerdict::Toy;
    result.value = std::min(pure, autocast);
    result.bound = 1;
    result.residual = 1 - result.value;
    result.samples = 2;
    result.detail = "BF16, after layer 1 and the last: pure " + text(pure_first) + " and " + text(pure_last) +
                    ", autocast " + text(autocast_first) + " and " + text(autocast_last);
    return result;
}

ClaimResult cross_entropy_table(ClaimInput& input) {
    const PublishedNumbers p = input.quantities().published();
    const double floor = std::log(p.vocabulary);
    return {refuted_if(p.pre_loss > floor && p.post_loss > floor),
            p.pre_loss,
            floor,
            p.pre_loss - floor,
            2,
            "above ln " + number_text(p.vocabulary, 5) + " = " + text(floor) +
                ", the loss without any knowledge; a sum of " + text(p.micro_batches) + " micro-batches: " +
                text(p.pre_loss / p.micro_batches) + " and " + text(p.post_loss / p.micro_batches)};
}

ClaimResult perplexity_table(ClaimInput& input) {
    const PublishedNumbers p = input.quantities().published();
    const double expected = std::exp(p.validation_loss);
    return {refuted_if(std::abs(expected / p.perplexity - 1) > 0.01),
            expected,
            p.perplexity,
            std::abs(expected / p.perplexity - 1),
            1,
            "exp(" + text(p.validation_loss) + ") is " + text(expected) + ", printed is " +
                number_text(p.perplexity, 4)};
}

const Claim kPrecisionRows[] = {
    {"E37", "Table 1", "final losses of 51.45 and 61.15 are cross-entropies", kFails, cross_entropy_table},
    {"K19", "Table 2", "the perplexity is exp of the validation loss", kFails, perplexity_table},
    {"B03", "Thm 1", "the error of attention's output is bounded with κ(V)", kFails, output_error},
    {"B13", "δ_ℓ", "the mismatch grows with depth", ClaimVerdict::Toy, mismatch_over_depth,
     "precision_policy"},
    {"B14", "u table", "u = 2⁻⁸, 2⁻¹¹, 2⁻²⁴", ClaimVerdict::Holds, round_off},
};

}  // namespace

std::span<const Claim> precision_claims() {
    return kPrecisionRows;
}

}  // namespace normscope
