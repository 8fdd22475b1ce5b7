// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

// The terms of the predictors of the low-precision forward error ([B]); dimensionless unless stated, and none
// contains the unit round-off u, so that formats collapse onto one number: the predicted relative error is u
// times a predictor. v1: the paper and its first code; v2: the second code, which divides absolute errors by
// the size of what they disturb.

/// ε of 1/(σ_min + ε) in a condition number: [B] takes 1e-6 for weights and 3e-6 for values.
inline constexpr double kWeightRidge = 1e-6, kValueRidge = 3e-6;

/// C_LN = σ/√ε + σ²/ε + 1 ([B] Prop. 1) of the variance σ² of a norm's input; NaN where ε = 0.
double norm_condition_v1(double variance, double eps);

/// (ε + 2σ²)/(σ² + ε)^(3/2), in units of 1/x ([B], second code): times ‖γ‖∞·‖x‖ the norm's term. NaN where σ²
/// = ε = 0.
double norm_factor_v2(double variance, double eps);

/// The sizes of one layer's attention, over its heads and the sequences.
struct AttentionSizes {
    double scores = 0, probabilities = 0, queries = 0, keys = 0,
           output = 0;    ///< Frobenius norms, of all together
    double values = 0;    ///< the largest ‖V‖₂ of a head in a sequence: ‖PV‖_F <= ‖P‖_F·values
    double row_norm = 0;  ///< the largest ‖diag p − ppᵀ‖₂
    double scale = 1;     ///< 1/(τ·√d_h): scores = scale·QKᵀ

    /// κ_softmax = row_norm·‖S‖/‖P‖: the relative change of P, over that of S.
    double softmax() const { return row_norm * scores / probabilities; }
    /// χ = row_norm·scale·‖Q‖·‖K‖/‖P‖: the relative change of P by rounding the sums of the scores.
    double score() const { return row_norm * scale * queries * keys / probabilities; }
    /// κ_val = ‖P‖_F·‖V‖₂/‖O‖_F >= 1: what κ(V) is replaced by, since PV may cancel where κ(V) = 1 (V = [I;
    /// −I], p uniform).
    double value() const { return probabilities * values / output; }
    /// (κ_softmax + χ)·‖P‖·‖V‖₂: the absolute term of v2, in the output's unit.
    double term() const { return (softmax() + score()) * probabilities * values; }
};

/// What v1 multiplies and adds in a layer ([B] Theorem 3).
struct LayerTermsV1 {
    double softmax, score, value;  ///< κ_softmax, κ_score, κ(V): the largest of a head in a sequence
    double output;                 ///< ‖W_O‖₂
    double weights;                ///< κ_eff = κ(W_1) + κ(W_2) + κ(W_O)
    double norm;                   ///< C_LN, the largest of the layer's norms

    double predictor() const { return softmax * (1 + score) * value * output + weights + norm; }
};

/// By how much a relative error grows over a layer at most, less 1: a + m·(1 + a) of the branches' sizes
/// relative to what they are added to; a + m in a parallel layer. A norm after a sum is not in it.
double residual_growth(double attention, double feed_forward, bool parallel);

}  // namespace normscope
