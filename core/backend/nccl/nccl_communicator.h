// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/nccl/nccl_functions.h"
#include "core/backend/ranks/communicator.h"

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace normscope::cuda {

/// The ranks of a launcher with a card each, by NCCL, in a stream of its own. As MPI, NCCL is polled and
/// never waited for: a call that a lost rank would block is abandoned and throws LostRank; nothing can be
/// exchanged afterwards. Values are copied and never added here, so that sums have one order
/// (rank_gradients.h).
class NcclCommunicator final : public CardCommunicator {
  public:
    /// Of this rank alone. `host`: the same ranks; it outlives this. SystemError where there is no NCCL
    /// or the card cannot be used.
    NcclCommunicator(HostCommunicator& host, int card);
    ~NcclCommunicator() override;
    NcclCommunicator(const NcclCommunicator&) = delete;
    NcclCommunicator& operator=(const NcclCommunicator&) = delete;

    int rank() const override { return host_.rank(); }
    int size() const override { return host_.size(); }
    void connect() override;
    void close() override;
    void all_gather(void* all, const std::vector<std::size_t>& ends) override;
    void all_to_all(const std::vector<std::vector<Block>>& to,
                    const std::vector<std::vector<Block>>& from) override;

  private:
    /// Calls of NCCL as one, until their memory may be used.
    void exchange(std::size_t bytes, const std::function<void()>& calls);
    /// Until NCCL has taken the calls so far.
    void wait_until_taken();
    /// SystemError, or LostRank where another rank is the cause.
    void throw_if_failed(ncclResult_t result) const;
    void abandon() noexcept;

    HostCommunicator& host_;
    int card_;
    const NcclFunctions& nccl_;
    ncclComm_t communicator_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t done_ = nullptr;
};

}  // namespace normscope::cuda
