// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <vector>

namespace normscope {

/// The angles of rotary positions, [context, d_h] of the layers whose positions are global, followed by those
/// of local layers where the stack has any (StackSpec::rope_global_every): row t holds d_h/2 cosines, then
/// d_h/2 sines, of t·f_i; computed in float64, then rounded to T. Empty where the stack has no rotary
/// positions.
///
/// f_i = base^(−2i/d_h), d_h being twice the pairs that turn (StackSpec::rope_fraction; the others have f_i =
/// 0 and the cosine 1), or with StackSpec::rope_scaling, w being the turns f·n/2π in n original tokens:
///   linear  f/factor
///   llama3  f/factor for w < low, f for w > high, between them (1 − s)·f/factor + s·f with
///           s = (w − low)/(high − low) (LLaMA 3.1's reference code)
///   yarn    (1 − k)·f/factor + k·f with k falling from 1 to 0 over the pairs from ⌊c(beta_fast)⌋ to
///           ⌈c(beta_slow)⌉, c(β) = d_h·ln(n/2πβ)/(2·ln base), limited to 0 … d_h − 1; cosines and sines
///           times the attention factor (Peng et al., "YaRN", 2023, §3, as transformers computes it)
template <class T>
std::vector<T> rope_table(const StackSpec& spec);

/// The f_i, [d_h/2], of the layers whose positions are global.
std::vector<double> rope_frequencies(const StackSpec& spec);

}  // namespace normscope
