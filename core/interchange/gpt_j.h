// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/config_reader.h"
#include "core/interchange/tensor_names.h"

namespace normscope {

/// GPT-J as transformers writes it: parallel layers with one norm before both maps, rotary positions over the
/// first rotary_dim entries of a head, a bias at the head.
StackSpec gpt_j_stack(ConfigReader& config);
std::vector<ForeignTensor> gpt_j_tensors(const StackSpec& stack, const std::string& prefix);

}  // namespace normscope
