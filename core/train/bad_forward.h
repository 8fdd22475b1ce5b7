// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/train/bad_place.h"

#include <optional>

namespace normscope {

/// The first operation of a forward pass with a result that is not finite, in the order of computation:
/// embedding, then in each sub-layer the norm, the projections, the scores, the softmax, the mixed values,
/// the branch, its norm, the residual sum and the norm after it, then the final norm, the head and the loss.
/// Row and value are those of its first such entry; scores are not kept by a pass and are computed again
/// where a softmax failed. The step is left at 0. Costs a reduction per array, so it is for a step that has
/// failed.
template <class T>
std::optional<BadPlace> first_bad_forward(const Transformer<T>&, const Tape<T>&);

}  // namespace normscope
