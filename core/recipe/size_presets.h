// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/presets.h"

#include <span>

namespace normscope {

/// The literature's model sizes (core/stack/size_table) as presets: complete recipes with the optimizer and
/// schedule they were trained with. Separate from presets(), the small ones of the laboratory, since the
/// smallest takes seconds per step and the largest more memory than most machines have; find_preset finds
/// both.
std::span<const Preset> size_presets();

}  // namespace normscope
