// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <vector>

namespace normscope {

/// The angles of rotary positions, [context, d_h]: row t holds d_h/2 cosines, then d_h/2 sines, of
/// t·base^(−2i/d_h); computed in float64, then rounded to T. Empty where the stack has no rotary positions.
template <class T>
std::vector<T> rope_table(const StackSpec& spec);

}  // namespace normscope
