// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"

#include <functional>
#include <string>

namespace normscope::app {

/// The processes that train one run together, or this one alone. What one of them does by itself (reading a
/// file, measuring, recording) the others wait for in the next call here or the next step.
class RankGroup {
  public:
    /// "": alone; "mpi": those of an MPI launcher. InputError where there is no such plug-in.
    explicit RankGroup(const std::string& word);
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    /// Null: alone.
    Communicator* communicator() const { return ranks_; }
    /// Whether this is the rank that records and reports.
    bool leads() const { return rank_ == 0; }
    /// "rank 3: "; empty for the one that leads.
    std::string name() const { return leads() ? "" : "rank " + std::to_string(rank_) + ": "; }

    /// Whether it holds for any rank.
    bool any(bool mine);
    /// Prepares each rank; prepare() returns what must be the same in all, in words. Where a rank throws an
    /// exception, all of them close() and do: InputError or SystemError as it was, with the rank's number
    /// where it is not the first. So they do where the words differ.
    void prepare(const std::function<std::string()>& prepare);
    /// All have ended their work; waits for them.
    void close();
    /// Ends the other ranks, which wait for this one, and this one, with the exit code.
    [[noreturn]] void abort(int code);

  private:
    Communicator* ranks_ = nullptr;
    int rank_ = 0;
};

}  // namespace normscope::app
