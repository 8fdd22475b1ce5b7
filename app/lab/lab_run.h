// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/frame.h"
#include "core/recipe/recipe.h"
#include "core/session/run_data.h"
#include "core/session/session.h"

#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// A checkpoint of a run that can still be had, and from where.
struct KnownCheckpoint {
    std::int64_t step = 0;
    CheckpointSource source;
};

/// One run of the comparison. Cheap to copy: an undo entry is a list of these.
struct LabRun {
    std::string id;
    Recipe recipe;                  ///< what the knobs say
    Recipe live;                    ///< what `data` was made with, hot knobs moved on the way included
    std::shared_ptr<RunData> data;  ///< never null; grows while the run trains
    std::shared_ptr<const RunData>
        preview;          ///< a trained run whose knobs moved on: what they would give at step 0
    bool pinned = false;  ///< keeps its data: knobs and training pass it by
    std::vector<KnownCheckpoint> checkpoints;
    /// For which request each probe was measured; a probe that waits for a newer one is drawn as a draft.
    std::map<std::string, std::uint64_t> measured_for;
    StartWeightsPtr weights = {};  ///< imported ones that it starts from; null: drawn from the seed
    /// Why the engine does not build `recipe`, in one line; empty = it does.
    std::string refusal = {};
    /// What its weights warn of, one line each: gates at or below 0.
    std::vector<std::string> gate_warnings = {};

    /// Why nothing more of its training is recorded: "not recorded: …", one line; empty = it is.
    std::string not_recorded = {};

    /// Which start of a training `data` grows from; frames of another one are not its own. 0: none.
    std::uint64_t training = 0;

    bool trained() const { return data->steps.rows() > 0; }
    /// Training has begun and not ended.
    bool underWay() const {
        return data->outcome.state == RunState::Running || data->outcome.state == RunState::Paused;
    }
    /// Its data belong to `live`, whatever its knobs say.
    bool committed() const { return trained() || underWay(); }
    /// Its knobs moved on from what it was trained with.
    bool asksForANewRun() const { return committed() && !pinned && !same_recipe(recipe, live); }
    /// The last recorded step; -1 before.
    std::int64_t lastStep() const { return trained() ? data->steps.step.back() : -1; }
};

/// A run that nobody measured yet.
LabRun makeRun(std::string id, const Recipe& recipe);

}  // namespace normscope::app
