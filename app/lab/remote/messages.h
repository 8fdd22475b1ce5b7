// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/draft_request.h"
#include "app/lab/engine/follow_request.h"
#include "app/lab/engine/frame.h"
#include "app/lab/engine/measure_request.h"
#include "app/lab/engine/sweep_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace normscope::app {

/// The number of the protocol: of the messages, their contents and their order. Two ends talk only if they
/// have the same number and the same version of Normscope.
inline constexpr int kProtocol = 1;

/// What a window asks of an engine on another machine: the functions of Engine, by their names.
namespace ask {

struct FindDevices {};
/// Start weights, before the first plan that has them. They are large: plans name them by number.
struct Weights {
    std::uint64_t number = 0;
    StartWeights weights;
};
/// Weights that `weights` (one number a run, 0: none) does not name are forgotten.
struct Explore {
    ExploreRequest request;
    std::vector<std::uint64_t> weights;
};
struct Train {
    std::uint64_t token = 0;
    std::vector<RunPlan> runs;
    std::vector<std::uint64_t> weights;
};
struct SetKnobs {
    std::string id;
    HotKnobs knobs{};
};
struct SetWatch {
    std::string id;
    std::vector<WatchSpec> watch;
};
struct SetInterventions {
    std::string id;
    std::vector<InterventionSpec> list;
};
struct SetPaused {
    bool paused = false;
};
struct SingleStep {};
struct Stop {
    std::optional<std::vector<std::string>> ids;  ///< nullopt: all
};
struct Measure {
    MeasureRequest request;
};
struct Branch {
    BranchRequest request;
};
struct CancelBranches {};
struct Draft {
    DraftRequest request;
};
/// Recordings there that other processes write.
struct Follow {
    FollowRequest request;
};
/// Trains a sweep there; one that is being trained is stopped.
struct Sweep {
    SweepRequest request;
};
struct StopSweep {
    std::uint64_t token = 0;
};
struct FrameShown {};
/// The window closes: all runs are stopped, and the engine ends after its last replies.
struct Finish {};

using Any = std::variant<FindDevices, Weights, Explore, Train, SetKnobs, SetWatch, SetInterventions,
                         SetPaused, SingleStep, Stop, Measure, Branch, CancelBranches, Draft, Follow, Sweep,
                         StopSweep, FrameShown, Finish>;

}  // namespace ask

/// The replies: the signals of Engine, by their names, and what is recorded there.
namespace reply {

struct Devices {
    std::vector<KnownDevice> devices;
};
struct Framed {
    Frame frame;
};
struct Rejected {
    std::uint64_t generation = 0;
    std::string message;
};
struct StartRejected {
    std::uint64_t token = 0;
    std::string id, message;
};
struct Replayed {
    std::uint64_t token = 0;
    std::string id;
    std::int64_t steps_done = 0;
};
struct Measured {
    std::uint64_t token = 0;
    std::string id;
    ProbeResultsPtr results;
    std::string failed;
};
struct Branching {
    std::uint64_t token = 0;
    std::int64_t steps_done = 0;
};
struct Branched {
    std::uint64_t token = 0;
    CheckpointPtr checkpoint;
    std::string failed;
};
struct Drafted {
    std::uint64_t token = 0, index = 0;
    DraftResult result;
};
struct Followed {
    FollowReply reply;
};
struct Swept {
    SweepReply reply;
};
/// A run is recorded there too, in this file; or it is not, and why.
struct RecordedThere {
    std::string id, path, failed;
};
/// A request that could not be read, and why: none of what is open is sure to be answered.
struct NotUnderstood {
    std::string why;
};
/// The last one, after Finish.
struct Finished {};

using Any = std::variant<Devices, Framed, Rejected, StartRejected, Replayed, Measured, Branching, Branched,
                         Drafted, Followed, Swept, RecordedThere, NotUnderstood, Finished>;

}  // namespace reply

/// Binary, in the byte order of this machine. The recipe of a plan is sent as it is written to files; of a
/// plan's weights and of a checkpoint's source nothing is, and a frame's times begin when its request was
/// taken.
std::string to_bytes(const ask::Any& message);
std::string to_bytes(const reply::Any& message);
/// Throws InputError for bytes that to_bytes() does not write.
ask::Any ask_of(const std::string& bytes);
reply::Any reply_of(const std::string& bytes);

}  // namespace normscope::app
