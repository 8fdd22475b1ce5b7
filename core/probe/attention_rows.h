// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The concentration of attention, per layer and head over all rows of the batch; all [D, H]:
///   entropy: mean over rows of two entries or more of −Σ p ln p ÷ ln(entries): 1 = uniform, 0 = one key
///   alone. Its fall to 0 is the entropy collapse of Zhai et al., "Stabilizing transformer training by
///   preventing attention entropy collapse" (2023);
///   sink_mass: mean over the same rows of the probability of the first token (Xiao et al., "Efficient
///   streaming language models with attention sinks", 2023);
///   max_logit: largest |q·k/(τ√d_h)| over the unmasked entries, from q and k as the scores read them
///   (normalised and rotated if the stack does so), in the engine's precision without the rounding of an
///   emulated one;
///   contraction: max over sequences of max_i ‖(AV)_i‖₂ ÷ max_j ‖V_j‖₂ over the tokens of one. At most 1 up
///   to rounding, since the rows of A are convex combinations ([E] Lemma 3.2); NaN where V is 0.
/// A row whose probabilities sum to 1 only roughly (emulated precision) is normalised. entropy_error and
/// sink_mass_error:
/// jackknife over the sequences. Dimensionless. A head is NaN where one of its probabilities or logits is not
/// finite;
/// entropy and sink_mass also where no row has two entries.
template <class T>
ProbeResult probe_attention(ProbeInput<T>& input);

ProbeInfo attention_probe();

}  // namespace normscope
