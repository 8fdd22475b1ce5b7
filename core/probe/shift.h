// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The relative size of the perturbation of the inputs.
inline constexpr double kShiftNoise = 0.1;

/// The distribution of hidden states over inputs: the B sequences of the probe batch are points in R^{n×d}.
/// At every hidden state, [2D+1], dimensionless:
///   variance_mean, variance_max: mean and largest, over the entries (token, channel), of the entry's
///   variance over the sequences (divisor B: that of the empirical distribution), the data variance of [K]
///   Theorem 5; variance_bound: mean over sequences of R_k² (theory/growth_bounds.h), which no entry's
///   variance exceeds; w2: exact W₂ (Frobenius) between the batch and the batch from perturbed inputs, by
///   assignment (theory/transport.h), [K] Theorem 6; w2_paired: root mean square distance of a sequence to
///   its own perturbed one, never below w2; w2_bound: the theorem's bound, per sub-layer (shift_bounds).
/// The perturbation adds to hidden state 0 independent normal noise of 0.1 times its root mean square (label
/// `perturbation`), counter-based, the same at every step. Bounds are NaN from the first sub-layer on that
/// has none (a post norm, a branch without norms), everything where a state is not finite. One sequence has
/// variance 0.
template <class T>
ProbeResult probe_shift(ProbeInput<T>& input);

ProbeInfo shift_probe();

}  // namespace normscope
