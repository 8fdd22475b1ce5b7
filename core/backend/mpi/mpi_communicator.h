// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/mpi/peers.h"
#include "core/backend/ranks/communicator.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace normscope {

/// The ranks of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. A call does not block in MPI, which would
/// wait for a lost rank for ever: it polls, and throws LostRank where a rank of this machine has ended, or
/// where this rank is asked to end and the others do not answer.
class MpiCommunicator final : public HostCommunicator {
  public:
    explicit MpiCommunicator(bool (*stop_wanted)());

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void all_gather(void* all, const std::vector<std::size_t>& ends) override;
    void all_to_all(const std::vector<std::vector<Block>>& to,
                    const std::vector<std::vector<Block>>& from) override;
    int local_rank() const override { return local_ranks(rank_); }
    int local_size() const override { return std::max(1, local_ranks(size_)); }
    void wait_for(const std::function<bool()>& done, std::size_t bytes) override;
    [[noreturn]] void abort(int code) noexcept override;

  private:
    using Clock = std::chrono::steady_clock;
    void wait(MPI_Request request, std::size_t bytes);
    void throw_if_lost() const;
    /// Of this machine, below that rank.
    int local_ranks(int below) const;

    bool (*stop_wanted_)();
    int rank_ = 0, size_ = 1;
    std::vector<Peer> peers_;         ///< of all ranks
    Clock::duration longest_wait_{};  ///< for others that answered
};

}  // namespace normscope
