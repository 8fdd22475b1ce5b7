// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/tensor_names.h"
#include "core/stack/stack_spec.h"

#include <string>

namespace normscope {

/// The stack that a Hugging Face (or nanoGPT) config.json describes, completed and valid. What the file
/// itself says is taken from its tensors: whether there are biases where the configuration has no such key.
///
/// A key that changes what the model computes in a way no recipe can say (rope_scaling, a sliding window,
/// another activation) is refused by name; so is a key that we do not know, unless it is null or false.
/// InputError.
StackSpec stack_of_config(const std::string& json_text, const FoundNaming& found, const Safetensors& file,
                          const std::string& where);

/// The config.json with which other programs load a file of to_foreign(); `naming` is Gpt2, NanoGpt or Llama.
std::string config_of_stack(const StackSpec& stack, Naming naming);

/// The same stack after every range of its keys, and then the whole, was checked as a recipe's is. InputError
/// names the key. For sizes that come from a file instead of a recipe.
StackSpec checked(StackSpec stack, const std::string& where);

}  // namespace normscope
