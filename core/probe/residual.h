// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The contribution of each sub-layer k to the stream, and its factors on the gradient in the backward pass.
/// All arrays are [2D], each with its jackknife error over the sequences of the probe batch (NAME_error).
///
/// Forward, with the branch Δt·b·λ∘y (times 1 − act(g) with a gate on it) and h_k [R, d], the hidden state
/// that it is added to: branch_ratio = mean over tokens of ‖branch‖₂/‖h_k‖₂; branch_cosine = mean over tokens
/// of cos(branch, h_k), NaN where every branch is zero. A factor a of the shortcut is not in h_k.
///
/// Backward, with g_k = ∂loss/∂h_k over the whole batch and g_z the gradient at the residual sum z, after the
/// post norm and a gate at the output (‖·‖ is the Frobenius norm; stop-gradients are honoured, as in
/// training):
///   grad_norm     = ‖g_z‖/‖g_{k+1}‖: the post norm and the output gate; 1 without both
///   grad_shortcut = |s|, s·g_z being what the shortcut alone sends to h_k: s = a, times the gradient factor
///   of a gate at
///                   the shortcut or the input. Where s = 0 it is 1: there is no shortcut, and the branch has
///                   it all
///   grad_branch   = ‖g_k‖/(grad_shortcut·‖g_z‖): what the branch's Jacobian gives back (above 1) or takes
///                 (below 1)
/// Their product is ‖g_k‖/‖g_{k+1}‖ exactly; over a range of sub-layers the products multiply. It is
/// arithmetic and no approximation: the branch's factor is what remains of the measured gradient once the
/// other two are known.
///
/// What the shortcut alone carries: shortcut_gain = |s|·|gate at the output|·mean over tokens of rms(γ)/σ_ε,
/// rms(γ) = √(Σγ²/d) and σ_ε those of the post norm (both 1 without one; NaN of a kind that is not γ/σ). It
/// is 0 where s = 0. rms(γ)/σ_ε is the factor of the norm's VJP on a gradient of no particular direction,
/// apart from the two of d directions that it erases ([N] §2); forwards it is the factor of h_k in h_{k+1}.
/// Unlike grad_norm it does not depend on the gradient's direction. The product over the sub-layers is the
/// share of a signal that reaches the last layer without a branch: with branches of unit variance,
/// uncorrelated with the stream, it is (1 + 1/α²)^(-D) for LN(αx + f(x)), 0.11 for DeepNorm's α = (2D)^(1/4)
/// at D = 12, and (1 + α²)^(-D) = 5.6e-10 for α on the wrong side, LN(x + αf(x)). The first post norm also
/// undoes the scale of the embedding: its factor is large where that is small.
///
/// In a parallel layer both branches leave from the layer's input: the feed-forward sub-layer has the layer's
/// norm and gate in grad_norm and 1 in the other two, attention the layer's shortcut, and its grad_branch is
/// that of both branches.
template <class T>
ProbeResult probe_residual(ProbeInput<T>& input);

ProbeInfo residual_probe();

}  // namespace normscope
