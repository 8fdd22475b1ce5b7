// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/run_checkpoint.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "core/session/session.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>

namespace normscope::app {

/// The run with this id; the only one where it is empty. InputError names those that there are, for `option`.
RunData& chosen_run(Session& session, const std::string& path, const std::string& id,
                    const std::string& option = "--run");

/// The newest checkpoint of a run at or before a step, in the session or next to the recording; null where
/// there is none.
std::shared_ptr<const Checkpoint> nearest_checkpoint(const Session& session, const RunData& run,
                                                     const std::string& path, std::int64_t step);

/// A run at any of its steps: the checkpoint of that step where one is stored, else a bit-exact replay from
/// the nearest earlier checkpoint (in the session or next to the recording), or from step 0 of its recipe.
/// `run` is needed where the file holds several. Throws InputError, one line, for a step that the run does
/// not have and where a knob was moved in between (see replay_obstacle). `progress` gets a line after a
/// replay.
RunCheckpoint run_at_step(const std::string& path, const std::string& run, std::int64_t step,
                          ThreadPool& pool, std::ostream& progress);

}  // namespace normscope::app
