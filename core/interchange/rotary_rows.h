// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <cstddef>
#include <vector>

namespace normscope {

/// Which entries of a head of m rotating pairs are a pair in a file: (i, i + m), or (2i, 2i + 1) as in GPT-J.
/// The entries after them do not rotate. Of ours, (i, i + d_h/2) are a pair.
enum class RotaryPairs { Halves, Neighbours };

/// Which of their entries each of ours in a head is: [d_h].
std::vector<std::size_t> rotary_order(const StackSpec& stack, RotaryPairs pairs);

/// The rows of a projection to q or k: [heads·d_h].
std::vector<std::size_t> rotary_rows(const StackSpec& stack, int heads, RotaryPairs pairs);

}  // namespace normscope
