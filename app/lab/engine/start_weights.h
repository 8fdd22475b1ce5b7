// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/session.h"
#include "core/session/stored_tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// Start weights of a run instead of drawn ones. A recipe does not reproduce them: such a run is stored with
/// an event and a checkpoint at step 0.
struct StartWeights {
    std::string name;    ///< the run's name: the file's name without its extension
    std::string source;  ///< the file, for messages
    std::vector<StoredTensor> tensors;
};
using StartWeightsPtr = std::shared_ptr<const StartWeights>;

/// The first event of such a run.
RunEvent weightsEvent(const StartWeights& weights);

/// The checkpoint at step 0 of an untrained run; `run` has the measured recipe.
Checkpoint startCheckpoint(const RunData& run, const StartWeights& weights);

bool startedFromWeights(const RunData& run);

/// The weights that a run started from, of its checkpoint at step 0; null where they were drawn from the
/// seed.
StartWeightsPtr startWeightsOf(const RunData& run, Checkpoint start);

/// The weights that a run of a session started from; null where they were drawn from the seed. Throws
/// InputError for an unreadable checkpoint.
StartWeightsPtr startWeightsOf(const RunData& run, const Session& session);

}  // namespace normscope::app
