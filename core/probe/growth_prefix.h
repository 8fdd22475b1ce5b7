// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/model/transformer.h"
#include "core/theory/growth_bounds.h"

namespace normscope {

/// The sub-layers from the first on whose branch ends in a norm and whose sum is not normed again: there R_k of
/// output_norm_bounds holds. Gates of GPAS enter at their sites as the forward pass applies them (core/stack/scheme.h);
/// a learnable scale of the branch by its largest size; norms by ‖γ‖∞ and ‖β‖∞ of what the model holds now. Ends early
/// at a parameter that is not finite.
template <class T>
std::vector<OutputNormSublayer> bounded_prefix(const Transformer<T>& model);

/// act(α) of the sub-layers from the first on that the variance recursion of [G] eq. 16 describes: a sum of the stream
/// and of one unscaled branch, gated at the output. Empty without GPAS.
template <class T>
std::vector<double> estimated_prefix(const Transformer<T>& model);

}  // namespace normscope
