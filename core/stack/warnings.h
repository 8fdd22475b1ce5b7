// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <string>
#include <vector>

namespace normscope {

/// Warnings for settings that the literature advises against or has not tried, or that have no effect. One
/// line each: the recipe's keys, the reason, the source. Empty for a stack as published. Needs no completed
/// spec.
std::vector<std::string> warnings(const StackSpec& spec);

}  // namespace normscope
