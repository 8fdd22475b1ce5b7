// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// What bounds one sub-layer whose branch is bounded whatever its input is: x'' = gate · (shortcut·x +
/// Δt·b·branch). All in absolute value. Either the branch ends in an output norm, or its input is normed and
/// the weights bound the norm of a token of it.
struct BoundedSublayer {
    double step = 1;            ///< Δt
    double branch_scale = 1;    ///< max |b|
    double gamma_max = 1;       ///< ‖γ_out‖∞
    double beta_max = 0;        ///< ‖β_out‖∞; 0 for RMSNorm
    double gate_scale = 1;      ///< |1 − act(α)| of a GPAS gate after the sum; reaches 1.278 for SiLU
    double shortcut_scale = 1;  ///< |a|, times |1 − act(α)| of a GPAS gate on the shortcut
    bool output_norm = true;    ///< false: branch_rms bounds the branch, not γ_out and β_out
    double branch_rms = 0;      ///< B/√d, B the largest 2-norm that a token of the branch can have

    /// Of a token of the branch, before Δt·b.
    double largest_rms() const { return output_norm ? gamma_max + beta_max : branch_rms; }
};

/// Branches that end in a norm (Peri-LN) or begin with one (Pre-LN): R_0 = initial_norm, then per sub-layer
/// R_k = gate·(shortcut·R_{k−1} + Δt|b|√(nd)·r_k); ‖X_k‖_F <= R_k for any ε >= 0, with r_k = ‖γ_out‖∞ +
/// ‖β_out‖∞ (for any weights: the sharper, per sub-layer form of [K] Theorem 4, eq. 113; GPAS added) or r_k =
/// branch_rms. The second is ours: [K] Theorem 3 multiplies factors instead (pre_norm_bounds). X is tokens ×
/// width, over as many rows as the norm was taken. Returns sublayers.size() + 1 values. Throws InputError on
/// a negative or non-finite number.
std::vector<double> bounded_branch_norms(double initial_norm, std::size_t tokens, std::size_t width,
                                         std::span<const BoundedSublayer> sublayers);

/// The looser form of [K] eq. 11–12 with one γ_max, β_max and Δt for the whole stack: ‖X₀‖_F +
/// k·Δt|b|√(nd)(γ_max + β_max). Without gates and shortcut scale: InputError when one differs from 1, since
/// the bound is then false, or when one has no output norm.
std::vector<double> output_norm_bounds_uniform(double initial_norm, std::size_t tokens, std::size_t width,
                                               std::span<const BoundedSublayer> sublayers);

/// MA(X) <= R/√(nd), [K] eq. 114.
double mean_absolute_bound(double norm_bound, std::size_t tokens, std::size_t width);
/// Var(X) <= R²/(nd − 1), [K] eq. 104. InputError when nd = 1.
double variance_bound(double norm_bound, std::size_t tokens, std::size_t width);

/// One sub-layer of a Pre-LN stack, for the bound below. All in absolute value.
struct PreNormSublayer {
    double step = 1;       ///< Δt
    double gamma_max = 1;  ///< ‖γ_in‖∞
    double smallest_token_norm =
        1;  ///< min_j ‖x_j‖₂ of what the norm reads; LayerNorm: min_j ‖x_j − mean(x_j)‖₂
    /// ‖f(u)‖₂ <= gain·‖u‖₂ for a token u that the norm can give: attention Σ_h ‖W^V_h W^O_h‖₂, the
    /// feed-forward map ‖W₁‖₂‖W₂‖₂
    double gain = 1;
    double eps = 0;  ///< the norm's ε: 1/‖x‖ becomes 1/√(‖x‖² + dε)
    bool mixes_tokens =
        true;  ///< attention: ‖A‖₂ <= √n of its row-stochastic n × n map; a feed-forward map: 1
    double branch_scale = 1;    ///< max |b|, times the factor after the input norm
    double gate_scale = 1;      ///< see BoundedSublayer
    double shortcut_scale = 1;  ///< see BoundedSublayer
};

/// Pre-LN, product form: ‖X_k‖_F <= Π_i gate·(shortcut + Δt|b|·m·√d·‖γ‖∞·gain / min_j‖x_j‖₂)·‖X₀‖_F, m = √n
/// for attention and 1 for a feed-forward map; [K] App. G eq. 82, which has attention with RMSNorm alone:
/// LayerNorm (as ‖x − mean‖ <= ‖x‖), the feed-forward map, gates and factors are our extension. Erratum: with
/// RMS(x) = ‖x‖₂/√d the matrix D_i of eq. 65 is diag(‖x_j‖₂)/√d, so the paper's factor lacks √d. Needs β = 0
/// and branches without biases. Several sequences in one X: each is bounded by the same factor, n being the
/// tokens of one. But for ε never below bounded_branch_norms, as √n·min_j‖x_j‖ <= ‖X‖_F: loose, no
/// prediction, since with bounded weights a Pre-LN branch is bounded and growth per token at most linear.
/// Returns sublayers.size() + 1 values. InputError on invalid values, also where a token and ε are both zero.
std::vector<double> pre_norm_bounds(double initial_norm, std::size_t context, std::size_t width,
                                    std::span<const PreNormSublayer> sublayers);

/// The GPAS variance recursion for one sub-layer, σ² ← (1 − act(α))²·σ²(1 + 1/σ), [G] eq. 16. Erratum: a
/// scale of (1 − act) scales the variance by its square; the paper writes it once. An estimate, not a bound.
double gpas_variance_step(double variance, double gate_activation);

}  // namespace normscope
