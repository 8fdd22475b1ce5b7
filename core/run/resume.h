// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"
#include "core/session/run_data.h"

#include <optional>
#include <string>

namespace normscope {

/// A checkpoint whose every step lies in the rows of this run: resuming from it leaves no hole.
bool follows(const RunData& history, const Checkpoint& checkpoint);

/// The newest of the live checkpoints beside a recording that a run may resume from; one that lies ahead of
/// the rows (a machine that lost power may keep the later file and lose the earlier one) is passed over. None
/// where there is none. Throws InputError where there are only damaged ones.
std::optional<Checkpoint> resumable_checkpoint(const std::string& recording_path, const RunData& history);

}  // namespace normscope
