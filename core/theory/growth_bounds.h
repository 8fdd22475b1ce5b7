// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// What bounds one sub-layer with an output norm: x'' = gate · (shortcut·x + Δt·b·N_out(f(…))). All in
/// absolute value.
struct OutputNormSublayer {
    double step = 1;            ///< Δt
    double branch_scale = 1;    ///< max |b|
    double gamma_max = 1;       ///< ‖γ_out‖∞
    double beta_max = 0;        ///< ‖β_out‖∞; 0 for RMSNorm
    double gate_scale = 1;      ///< |1 − act(α)| of a GPAS gate after the sum; reaches 1.278 for SiLU
    double shortcut_scale = 1;  ///< |a|, times |1 − act(α)| of a GPAS gate on the shortcut
};

/// Peri-LN (and any stack whose branches end in a norm): R_0 = initial_norm, then per sub-layer
/// R_k = gate·(shortcut·R_{k−1} + Δt|b|√(nd)(‖γ‖∞ + ‖β‖∞)); ‖X_k‖_F <= R_k for any weights and any ε >= 0.
/// The sharper, per sub-layer form of [K] Theorem 4 (eq. 113); GPAS added. X is tokens × width, over as many
/// rows as the norm was taken. Returns sublayers.size() + 1 values. Throws InputError on a negative or
/// non-finite number.
std::vector<double> output_norm_bounds(double initial_norm, std::size_t tokens, std::size_t width,
                                       std::span<const OutputNormSublayer> sublayers);

/// The looser form of [K] eq. 11–12 with one γ_max, β_max and Δt for the whole stack: ‖X₀‖_F +
/// k·Δt|b|√(nd)(γ_max + β_max). Knows no gates and no shortcut scale: InputError when one differs from 1,
/// since the bound is then false.
std::vector<double> output_norm_bounds_uniform(double initial_norm, std::size_t tokens, std::size_t width,
                                               std::span<const OutputNormSublayer> sublayers);

/// MA(X) <= R/√(nd), [K] eq. 114.
double mean_absolute_bound(double norm_bound, std::size_t tokens, std::size_t width);
/// Var(X) <= R²/(nd − 1), [K] eq. 104. InputError when nd = 1.
double variance_bound(double norm_bound, std::size_t tokens, std::size_t width);

/// One attention layer of a Pre-LN stack, for the bound below.
struct PreNormAttention {
    double step = 1;                 ///< Δt
    double gamma_max = 1;            ///< ‖γ_in‖∞
    double smallest_token_norm = 1;  ///< min_j ‖x_j‖₂ of the layer's input
    double value_output_norm = 1;  ///< ‖W^V W^O‖₂; for several heads the sum over heads of ‖W^V_h W^O_h‖₂
    double eps = 0;                ///< the norm's ε: 1/‖x‖ becomes 1/√(‖x‖² + dε)
};

/// Pre-LN, product form: ‖X_ℓ‖_F <= Π_i (1 + Δt·√n·√d·‖γ‖∞·‖W^V W^O‖₂ / min_j‖x_j‖₂) ‖X₀‖_F, [K] App. G
/// eq. 82. Erratum: with RMS(x) = ‖x‖₂/√d the matrix D_i of eq. 65 is diag(‖x_j‖₂)/√d, so the paper's factor
/// lacks √d. Holds for attention only, RMSNorm, no biases: not for a stack with an FFN. Loose, no prediction:
/// with bounded weights a Pre-LN branch is bounded and growth per token at most linear. context = n, the
/// tokens that attend to each other. Returns layers.size() + 1 values. InputError on bad numbers, also where
/// a token and ε are both zero.
std::vector<double> pre_norm_attention_bounds(double initial_norm, std::size_t context, std::size_t width,
                                              std::span<const PreNormAttention> layers);

/// The GPAS variance recursion for one sub-layer, σ² ← (1 − act(α))²·σ²(1 + 1/σ), [G] eq. 16. Erratum: a
/// scale of (1 − act) scales the variance by its square; the paper writes it once. An estimate, not a bound.
double gpas_variance_step(double variance, double gate_activation);

}  // namespace normscope
