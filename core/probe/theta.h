// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

namespace normscope {

/// Softmax sensitivity θ(p) of every attention row with at least two entries ([E] Thm 4.2): max, mean and below_099 (share
/// of rows with θ < 0.99), each [D, H] over batch and rows; width [] = the widest certificate of any row. NaN where no
/// row has two entries, or where a probability is not finite.
template <class T>
ProbeResult probe_theta(ProbeInput<T>& input);

}  // namespace normscope
