// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"
#include "core/model/transformer.h"

#include <cstddef>
#include <vector>

namespace normscope {

/// The order in which the ranks add gradients.
enum class RankSum {
    ByShard,  ///< in the order of the shards: the bits of one process
    ByRank,   ///< each rank its own shards first, then in the order of the ranks: fewer bytes, other bits
};

/// Data parallel training: each rank passes a part of the batch's shards, and all have the sums of the
/// gradients of all shards, in the order of the shards: the bits of one process. Each piece of the arena is
/// added by one rank, to which the others send theirs, and sent to all (as in ZeRO, Rajbhandari et al. 2020,
/// §5): of an arena of P values, rank r of R sends P·(its shards + 1)·(R − 1)/R; by ranks 2·P·(R − 1)/R, as a
/// ring would.
///
/// Where the device has one shard (a card), each rank's part of the batch is one: the sum is in the order of
/// the ranks, the same each time, but not that of one device with all of the batch.
template <class T>
class RankGradients {
  public:
    /// For batches of `sequences`; `ranks` is for the memory of the model's device. InputError where there
    /// are more ranks than shards. All outlive it.
    RankGradients(Communicator& ranks, const Transformer<T>& model, int sequences, RankSum sum);

    /// The shards of this rank.
    ShardPart part() const { return part_; }
    /// Of the last passes: the losses of the rows of all shards.
    void share_losses(StepScratch<T>& scratch);
    /// Sums as Transformer::sum_shards(), and the squares of hidden states of all shards.
    void sum(Gradients<T>& gradients, ThreadPool& pool);

  private:
    void all_gather(void* all, const std::vector<std::size_t>& ends);
    /// How many arrays the rank sends.
    int sent_by(int rank) const {
        const int shards = parts_[static_cast<std::size_t>(rank)].count;
        return by_ == RankSum::ByRank ? 1 : shards;
    }

    Communicator& ranks_;
    const Transformer<T>& model_;
    int sequences_;
    const RankSum by_;
    std::vector<ShardPart> parts_;  ///< of the ranks
    ShardPart part_;
    std::vector<std::size_t> slice_ends_;  ///< of the ranks' parts of the arena, in values
    std::vector<std::size_t> piece_ends_;  ///< of its pieces
    Buffer<ArenaPiece> pieces_;            ///< of this rank's part, from its begin on
    std::vector<Buffer<T>> received_;      ///< what the other ranks send, in order: this rank's part
};

}  // namespace normscope
