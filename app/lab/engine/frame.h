// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/start_weights.h"
#include "core/backend/devices/devices.h"
#include "core/run/experiment.h"

#include <QMetaType>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// The reply of the engine about one run.
struct RunFrame {
    std::string id;
    /// Set when the run was built or started: its identity, its completed recipe, its floors, and, when it
    /// continues, its history. Replaces the data of the run.
    std::shared_ptr<const RunData> header = {};
    RunDelta delta = {};
    /// Exploring: measured on the first sequences of the probe batch alone; the whole batch follows.
    bool draft = false;
    /// Training: taken since the last frame; of many only that of step 0, the last before a spike and the
    /// newest.
    std::vector<std::shared_ptr<const Checkpoint>> checkpoints = {};
    /// Warnings about gates that erase or flip the sign of their input, one line each, for the current
    /// weights.
    std::vector<std::string> gate_warnings = {};
    std::string rejected =
        {};  ///< exploring: why the recipe cannot be built, in one line; the rest is empty then
    /// Training: which start the run belongs to (RunPlan::training).
    std::uint64_t training = 0;
};

/// The devices of the runs in training, and their memory.
struct DeviceUse {
    std::string backend;       ///< the words, "cuda, cpu"; empty: no run trains
    DeviceMemory memory;       ///< of the first one that is not the CPU; 0 where there is none
    std::size_t resident = 0;  ///< of the program in the machine's memory
};

/// When the engine reached the stages of a reply to an ExploreRequest: for measurements of the interface.
struct FrameTimes {
    using Time = std::chrono::steady_clock::time_point;
    Time taken{};     ///< the request was taken
    Time prepared{};  ///< the experiments were built, or their knobs set
    Time measured{};  ///< the probes of this reply were measured
};

/// One reply of the engine, immutable. It has the generation of its request; the receiver drops it if it has
/// made a newer request.
struct Frame {
    enum class Kind { Explore, Train };

    std::uint64_t generation = 0;
    Kind kind = Kind::Explore;
    std::vector<RunFrame> runs;
    bool complete = false;  ///< explore: the last frame of its request; train: every run has ended
    double ms = 0;  ///< explore: since the request was started; train: of the last step of all runs together
    double probe_overhead = 0;  ///< train: Experiment::probe_overhead(), the largest of the runs
    DeviceUse device = {};      ///< train
    std::uint64_t number = 0;   ///< of all frames of an engine, from 1 on: they are applied in this order
    std::uint64_t engine = 0;   ///< that sent it: 0 in this process, others on other machines
    FrameTimes times = {};      ///< explore
};
using FramePtr = std::shared_ptr<const Frame>;

/// A run to be measured or trained.
struct RunPlan {
    std::string id, name;
    Recipe recipe;  ///< need not be completed
    /// To continue a run: the recorded rows before the checkpoint, and the checkpoint.
    std::shared_ptr<const RunData> history;
    std::shared_ptr<const Checkpoint> start;
    std::optional<HotKnobs> knobs;  ///< from the checkpoint on; nullopt: those of the checkpoint
    StartWeightsPtr weights = {};   ///< null: drawn from the seed; ignored with a checkpoint
    std::uint64_t training = 0;     ///< the start number of its frames
    std::string recording = {};     ///< the file that it continues; empty: a new one
    std::string backend = {};       ///< the word of the device that it trains on; empty: the CPU
};

/// Measure the initial state of these runs.
struct ExploreRequest {
    std::uint64_t generation = 0;
    std::vector<RunPlan> runs;
    std::vector<std::string> probes;  ///< those shown
    bool dragging = false;            ///< a knob moves: the next request follows soon
};

using DevicesPtr = std::shared_ptr<const std::vector<KnownDevice>>;
using RunDataPtr = std::shared_ptr<const RunData>;
using RunDeltaPtr = std::shared_ptr<const RunDelta>;
using CheckpointPtr = std::shared_ptr<const Checkpoint>;

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::FramePtr)
Q_DECLARE_METATYPE(normscope::app::DevicesPtr)
Q_DECLARE_METATYPE(normscope::app::RunDataPtr)
Q_DECLARE_METATYPE(normscope::app::RunDeltaPtr)
Q_DECLARE_METATYPE(normscope::app::CheckpointPtr)
