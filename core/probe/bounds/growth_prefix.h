// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/theory/growth_bounds.h"

#include <vector>

namespace normscope {

/// The sub-layers from the first on for which a bound of the growth holds.
struct GrowthPrefixes {
    /// Sub-layers whose branch ends in a norm or begins with one, and whose sum is not normed again: there
    /// R_k of bounded_branch_norms holds. Gates of GPAS enter at their sites as the forward pass applies them
    /// (core/stack/scheme.h); a learnable scale of the branch by its largest size; norms and weights by their
    /// current values (branch_bound.h). With an output norm the weights do not matter: it fixes the norm of
    /// every branch. Ends early at a non-finite parameter.
    std::vector<BoundedSublayer> bounded;
    /// Those of them that pre_norm_bounds describes: an input norm with β = 0, no output norm, no biases, in
    /// a serial layer. Token norms are those of the tape.
    std::vector<PreNormSublayer> product;
};

/// The norms of the weights are the expensive part: one piece per sub-layer.
template <class T>
GrowthPrefixes growth_prefixes(const Transformer<T>& model, const Tape<T>& tape, ThreadPool& pool);

/// act(α) of the sub-layers from the first on that the variance recursion of [G] eq. 16 describes: a sum of
/// the stream and of one unscaled branch, gated at the output. Empty without GPAS.
template <class T>
std::vector<double> estimated_prefix(const Transformer<T>& model);

}  // namespace normscope
