// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/session.h"
#include "core/session/stored_tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// Weights that a run starts from in place of drawn ones. A recipe does not bring them back: wherever such a
/// run is kept it has an event that says so and a checkpoint at step 0.
struct StartWeights {
    std::string name;    ///< what the run is called: the file's name without its ending
    std::string source;  ///< the file, for messages
    std::vector<StoredTensor> tensors;
};
using StartWeightsPtr = std::shared_ptr<const StartWeights>;

/// What such a run begins with, in its events.
RunEvent weightsEvent(const StartWeights& weights);

/// The checkpoint at step 0 of a run that nobody trained yet; `run` says with which recipe it was measured.
Checkpoint startCheckpoint(const RunData& run, const StartWeights& weights);

bool startedFromWeights(const RunData& run);

/// The weights that a run started from, of its checkpoint at step 0; null where they were drawn from the
/// seed.
StartWeightsPtr startWeightsOf(const RunData& run, Checkpoint start);

/// The weights that a run of a session started from; null where they were drawn from the seed. Throws
/// InputError for a checkpoint that can not be read.
StartWeightsPtr startWeightsOf(const RunData& run, const Session& session);

}  // namespace normscope::app
