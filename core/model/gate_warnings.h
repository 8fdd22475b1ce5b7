// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

#include <string>
#include <vector>

namespace normscope {

/// One line for every layer whose gate multiplies by 1 − act(g) ≤ 0 in the forward pass: at 0 the gate erases
/// what it is applied to, below it changes the sign (SiLU: from g = 1.2785 on). [G] does not exclude it: its gates
/// have no clamp.
template <class T>
std::vector<std::string> gate_warnings(const Transformer<T>& model);

}  // namespace normscope
