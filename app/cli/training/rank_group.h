// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"
#include "core/run/memory_need.h"

#include <functional>
#include <string>

namespace normscope::app {

/// The processes that train one run together, or this one alone. What one of them does by itself (reading a
/// file, measuring, recording) the others wait for in the next call here or the next step.
class RankGroup {
  public:
    /// "": alone; "mpi": those of an MPI launcher. InputError where there is no such plug-in.
    RankGroup(const std::string& word, bool shards_optimizer);
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    bool alone() const { return !ranks_; }
    /// The word of this rank's device, for that of --backend: `auto` is the CPU, and the ranks of a machine
    /// have its cards in turn.
    std::string backend(const std::string& word) const;
    /// These ranks for the memory of this rank's device (backend()); null: alone. InputError where it is a
    /// card and there is no plug-in for that.
    Communicator* communicator(const std::string& device);
    /// All ranks, after the communicator was made: InputError, in all, where they cannot work together.
    void connect();
    /// Whether this is the rank that records and reports.
    bool leads() const { return rank_ == 0; }
    /// "rank 3: "; empty for the one that leads.
    std::string name() const { return leads() ? "" : "rank " + std::to_string(rank_) + ": "; }

    RankShare share() const;
    /// Whether each rank has a part of the optimizer's state: then all take part in a checkpoint.
    bool shards_optimizer() const { return share().optimizer_in_parts; }

    /// Whether it holds for any rank.
    bool any(bool mine) { return agree({mine, false}).stops; }
    /// What ranks want after a step: each for itself, and any of them.
    struct Wanted {
        bool stops = false, checkpoint = false;
    };
    Wanted agree(const Wanted& mine);
    /// Prepares each rank; prepare() returns what must be the same in all, in words. Where a rank throws an
    /// exception, all of them close() and do: InputError or SystemError as it was, with the rank's number
    /// where it is not the first. So they do where the words differ.
    void prepare(const std::function<std::string()>& prepare);
    /// All have ended their work; waits for them.
    void close();
    /// Ends the other ranks, which wait for this one, and this one, with the exit code.
    [[noreturn]] void abort(int code);

  private:
    HostCommunicator* ranks_ = nullptr;
    CardCommunicator* cards_ = nullptr;  ///< of a rank that has one
    int rank_ = 0;
    bool shards_optimizer_ = false;
};

}  // namespace normscope::app
