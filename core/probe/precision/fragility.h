// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// What theory makes of the low-precision error of a forward pass ([B]; formulas: theory/fragility.h),
/// without the unit round-off u: u times a predictor is the predicted relative error. In float64 from the
/// pass's stored values; D layers, H heads. Scores S = QKᵀ/(τ√d_h) as softmax reads them, zero where masked;
/// Q and K normalised and rotated where the stack has that; keys and values count once for each head that
/// reads them.
///
///   kappa_score = ‖Q‖₂‖K‖₂/(τ√d_h‖S‖₂), kappa_softmax = max over rows of ‖J(p)‖₂‖S_i‖₂/‖p_i‖₂ with J = diag
///   p − ppᵀ, kappa_v = σ_max(V)/(σ_min(V) + 3e-6), row_norm = max ‖J(p)‖₂ (exact: theory/softmax_norm.h) [D,
///   H], each the largest over the sequences of the probe batch softmax_v2, chi_score, kappa_val [D]:
///   AttentionSizes, over heads and sequences together kappa_eff [D] = κ(W_1) + κ(W_2) + κ(W_O), κ(W) =
///   σ_max/(σ_min + 1e-6); SwiGLU: W_1 is [W_gate; W_up] c_ln, ln_term, cancellation, rho_fp16, rho_bf16
///   [sites], of a norm's *input* x with σ² the median over tokens of its variance (RMSNorm: mean square):
///   C_LN; ‖γ‖∞·(ε + 2σ²)/(σ² + ε)^(3/2)·‖x‖_F; the median over tokens of ‖x‖/‖x − μ‖ (RMSNorm: 1); ρ_LN
///   (theory/norm_precision.h). Label `sites`. predictor_v1 [D]: LayerTermsV1, C_LN the largest of the
///   layer's norms local_v2 [D] = AttentionSizes::term() + Σ ln_term of the layer's norms + ‖W_O‖₂‖O‖ +
///   ‖W_1‖₂‖u‖ + ‖W_2‖₂‖act‖, in the unit of the hidden state (u: the feed-forward map's input) transport [D]
///   = Π over later layers of 1 + residual_growth(‖branch‖/‖h‖ of their two sub-layers, Frobenius norms)
///   predictor_v2 [D] = local_v2·transport/‖output of the final norm‖_F
///   total_v1, total_v2 []: the sums over layers
///
/// NaN where a value is not finite or a ratio is 0/0; c_ln, rho_… also where ε = 0, of a norm whose gain is
/// not γ/σ (NormNulls::None) all five.
template <class T>
ProbeResult probe_fragility(ProbeInput<T>& input);

ProbeInfo fragility_probe();

}  // namespace normscope
