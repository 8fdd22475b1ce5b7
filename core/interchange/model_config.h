// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/tensor_names.h"
#include "core/stack/stack_spec.h"

#include <string>

namespace normscope {

/// The stack that a Hugging Face (or nanoGPT) config.json describes, completed and valid. Whether there are
/// biases and whether the head is tied is taken from the tensors; a line in `notes` where the configuration
/// states otherwise, and lines with the keys that have no effect or are unknown.
///
/// Sliding windows that are narrower than the context shorten it to the narrowest: within it they hide no
/// token, which a line in `notes` states. In `found`, what is added to gains follows from the family.
///
/// A key that changes what the model computes in a way no recipe can express (caps of scores, other scaled
/// angles, another activation) is rejected by name; so are unknown keys that may
/// (ConfigReader::finish). InputError.
StackSpec stack_of_config(const std::string& json_text, FoundNaming& found, const Safetensors& file,
                          const std::string& where, std::vector<std::string>& notes);

/// The config.json with which other programs load a file of to_foreign(); `naming` is Gpt2, NanoGpt or Llama.
std::string config_of_stack(const StackSpec& stack, Naming naming);

/// The same stack after every range of its keys, and then the whole, was checked like a recipe. InputError
/// names the key. For sizes that come from a file instead of a recipe.
StackSpec checked(StackSpec stack, const std::string& where);

}  // namespace normscope
