// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/start_weights.h"
#include "core/run/experiment.h"

#include <QMetaType>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// What the engine has to say about one run.
struct RunFrame {
    std::string id;
    /// Set when the run was built or started: its identity, its completed recipe, its floors, and, when it
    /// continues, its history. Replaces what was known of the run.
    std::shared_ptr<const RunData> header = {};
    RunDelta delta = {};
    /// Training: taken since the last frame; of many the one of step 0, the last before a spike and the newest.
    std::vector<std::shared_ptr<const Checkpoint>> checkpoints = {};
    /// Gates that erase or turn the sign of what they stand on, one line each, as the weights are now.
    std::vector<std::string> gate_warnings = {};
    std::string refused = {};  ///< exploring: why the recipe cannot be built, in one line; the rest is empty then
    /// Training: which start the run belongs to (RunPlan::training).
    std::uint64_t training = 0;
};

/// One answer of the engine, immutable. It carries the generation of the request it answers; who asked for
/// something newer since drops it.
struct Frame {
    enum class Kind { Explore, Train };

    std::uint64_t generation = 0;
    Kind kind = Kind::Explore;
    std::vector<RunFrame> runs;
    bool complete = false;  ///< explore: the last frame of its request; train: every run has ended
    double ms = 0;  ///< explore: since the request was taken up; train: of the last step of all runs together
    double probe_overhead = 0;  ///< train: share of the training time
    std::uint64_t number = 0;  ///< of all frames of an engine, from 1 on: they are put into force in this order
};
using FramePtr = std::shared_ptr<const Frame>;

/// A run as it is to be measured or trained.
struct RunPlan {
    std::string id, name;
    Recipe recipe;  ///< need not be completed
    /// To continue a run: what was recorded before the checkpoint, and the checkpoint.
    std::shared_ptr<const RunData> history;
    std::shared_ptr<const Checkpoint> start;
    std::optional<HotKnobs> knobs;  ///< from the checkpoint on; without a value those of the checkpoint
    StartWeightsPtr weights = {};   ///< null: drawn from the seed; not looked at where there is a checkpoint
    std::uint64_t training = 0;     ///< the start that its frames name
    std::string recording = {};     ///< the file that it goes on in; empty: a new one
};

/// Measure the initial state of these runs.
struct ExploreRequest {
    std::uint64_t generation = 0;
    std::vector<RunPlan> runs;
    std::vector<std::string> probes;  ///< those that somebody looks at
};

using RunDataPtr = std::shared_ptr<const RunData>;
using RunDeltaPtr = std::shared_ptr<const RunDelta>;
using CheckpointPtr = std::shared_ptr<const Checkpoint>;

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::FramePtr)
Q_DECLARE_METATYPE(normscope::app::RunDataPtr)
Q_DECLARE_METATYPE(normscope::app::RunDeltaPtr)
Q_DECLARE_METATYPE(normscope::app::CheckpointPtr)
