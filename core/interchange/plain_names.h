// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/safetensors.h"

#include <string>
#include <vector>

namespace normscope {

/// The same tensors under the names that the model's own classes give them: what wrappers add is removed,
/// wherever it is in a name (_orig_mod of torch.compile, module of DistributedDataParallel,
/// _fsdp_wrapped_module, _checkpoint_wrapped_module), and an outermost word that all tensors share and that
/// is no part of a known model. A line in `notes` names what was removed. InputError where two tensors get
/// one name.
Safetensors with_plain_names(const Safetensors& file, const std::string& where,
                             std::vector<std::string>& notes);

}  // namespace normscope
