// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/config_reader.h"
#include "core/interchange/safetensors.h"
#include "core/interchange/tensor_names.h"

namespace normscope {

// Vision transformers: Pre-LN over a class token and the patches of a square image, with learned positions
// and a classifier of the class token. How their images were prepared (mean, standard deviation) is no part
// of a model.

/// transformers' ViTForImageClassification.
StackSpec vit_stack(ConfigReader& config, const FoundNaming& found, const Safetensors& file);
std::vector<ForeignTensor> vit_tensors(const StackSpec& stack, const std::string& prefix);

/// timm's plain ViT and DeiT (vit_SIZE_patchP_N, deit_SIZE_patchP_N), pooled by the class token. The tensors
/// decide where its configuration is silent. Others have rules of their own and are rejected by their name.
StackSpec timm_vit_stack(ConfigReader& config, const Safetensors& file);
std::vector<ForeignTensor> timm_vit_tensors(const StackSpec& stack);

}  // namespace normscope
