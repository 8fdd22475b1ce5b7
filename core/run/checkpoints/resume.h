// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"
#include "core/session/run_data.h"

#include <optional>
#include <string>

namespace normscope {

/// A checkpoint whose every step lies in the rows of this run: resuming from it leaves no gap.
bool follows(const RunData& history, const Checkpoint& checkpoint);

/// The newest live checkpoint of a recording that a run may resume from; one that is ahead of the rows
/// (possible after a power failure) is skipped. Nullopt if there is none. Throws InputError where there are
/// only damaged ones.
std::optional<Checkpoint> resumable_checkpoint(const std::string& recording_path, const RunData& history);

}  // namespace normscope
