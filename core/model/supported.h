// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

namespace normscope {

/// Throws InputError for a completed spec that the recipe format knows and this engine does not build yet, naming the
/// key and what is allowed.
void require_supported(const StackSpec& spec);

}  // namespace normscope
