// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The similarity of the tokens of a sequence and outliers of their entries, at every hidden state. Each
/// array is [2D+1], dimensionless, a mean over sequences with its jackknife error (NAME_error), and NaN where
/// it is not defined (an entry that is not finite, a token or a median of 0, one token alone):
///
///   similarity      mean cosine of two different tokens of the sequence: (‖Σ x̂‖² − n)/(n(n − 1)), x̂ =
///                   x/‖x‖
///   effective_rank  exp of the entropy of σ_i/Σσ over the singular values σ (not σ²) of the sequence's [n,
///                   d] matrix (Roy & Vetterli 2007), from 1 to min(n, d); σ² below 2^-52·max(n, d) of the
///                   largest count as 0.
///                   Of the first sequences only, as many as effective_rank_sequences(): label
///                   `effective_rank_sequences`
///   outlier         largest |x| of the sequence's entries ÷ their median |x|
///   heaviest_norm   norm of the sequence's heaviest token ÷ mean norm of its tokens
///   heaviest_place  [2D+1, 2] the sequence and the token where this is largest, from 0
template <class T>
ProbeResult probe_tokens(ProbeInput<T>& input);

/// The number of sequences for the effective rank. From the shape alone: all while the eigenvalues of their
/// Gram matrices [m, m], m = min(n, d), take at most a quarter of the time of a forward and backward pass
/// over the probe batch (estimated), but at least 2.
int effective_rank_sequences(const StackSpec& spec, int sequences, int length);

/// exp(entropy) of the singular values of [tokens, width] as above; NaN where an entry is not finite or all
/// are 0.
double effective_rank(const double* x, int tokens, int width);

ProbeInfo tokens_probe();

}  // namespace normscope
