// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "core/model/parameters.h"

namespace normscope {

/// Initial weights, drawn entry by entry from (seed, tensor name, row, column): a layer keeps its numbers when depth
/// moves, a block when width moves. Norm weights 1, biases 0, gates 0. Standard deviations by the spec's init rule.
template <class T>
void initialise(const StackSpec& spec, const ParameterTable& table, std::uint64_t seed, T* parameters);

/// The standard deviation the init rule gives to a tensor; 0 for those that are constant.
double initial_std(const StackSpec& spec, const TensorInfo& tensor);

}  // namespace normscope
