// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/config_reader.h"
#include "core/stack/stack_spec.h"

namespace normscope {

/// The activation by transformers' word at a key. InputError for one that is not known.
Activation known_activation(ConfigReader& config, const char* key, const char* otherwise);

/// transformers' word for an activation that is not gated.
const char* activation_word(Activation activation);

}  // namespace normscope
