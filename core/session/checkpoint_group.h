// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"
#include "core/session/hdf5.h"

namespace normscope::layout {

/// {params, moment1, moment2}/NAME, scalars and integers with their names as attributes; the same group in a
/// live checkpoint file (as /checkpoint) and in a session (as /runs/{id}/checkpoints/{step}).
void write_checkpoint_group(hid_t parent, const std::string& name, const Checkpoint& checkpoint);
Checkpoint read_checkpoint_group(hid_t parent, const std::string& name);

/// Opens a checkpoint file and checks its format.
hdf5::Handle open_checkpoint(const std::string& path);
inline constexpr const char* checkpoint_root = "checkpoint";

/// One array of any stored type, as its bytes.
void write_tensor(hid_t parent, const std::string& name, const StoredTensor& tensor);
StoredTensor read_tensor(hid_t parent, const std::string& name);

}  // namespace normscope::layout
