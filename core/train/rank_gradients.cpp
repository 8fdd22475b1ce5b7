// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/rank_gradients.h"

#include "core/backend/step_ops.h"
#include "core/base/error.h"
#include "core/model/arena_pieces.h"

#include <algorithm>
#include <string>

namespace normscope {

namespace {

/// The ends of `ranks` parts of `count` things, as equal as they can be.
std::vector<std::size_t> even_ends(std::size_t count, int ranks) {
    std::vector<std::size_t> ends;
    for (int r = 1; r <= ranks; ++r)
        ends.push_back(count * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks));
    return ends;
}

std::vector<std::size_t> times(std::vector<std::size_t> ends, std::size_t factor) {
    for (std::size_t& end : ends) end *= factor;
    return ends;
}

std::size_t begin_of(const std::vector<std::size_t>& ends, int rank) {
    return rank == 0 ? 0 : ends[static_cast<std::size_t>(rank) - 1];
}

}  // namespace

template <class T>
RankGradients<T>::RankGradients(Communicator& ranks, const Transformer<T>& model, int sequences, RankSum sum)
    : ranks_(ranks), model_(model), sequences_(sequences), by_(sum) {
    Device& device = model.device();
    const int size = ranks.size(), of_device = device.shards(sequences),
              shards = of_device > 1 ? of_device : std::min(size, sequences);
    if (size > shards)
        throw InputError("--ranks",
                         std::to_string(size) + " ranks, and the gradient of a batch of " +
                             std::to_string(sequences) + " is a sum of " + std::to_string(shards) + " parts",
                         "1 … " + std::to_string(shards) + " ranks");
    for (int r = 0; r < size; ++r) {
        const int first = shards * r / size;
        parts_.push_back({first, shards * (r + 1) / size - first, shards});
    }
    const int rank = ranks.rank();
    part_ = parts_[static_cast<std::size_t>(rank)];
    const std::vector<ArenaPiece> pieces = arena_pieces(model.table().size());
    piece_ends_ = even_ends(pieces.size(), size);
    for (const std::size_t end : piece_ends_)
        slice_ends_.push_back(end == 0 ? 0 : pieces[end - 1].offset + pieces[end - 1].count);
    const std::size_t begin = begin_of(slice_ends_, rank);
    std::vector<ArenaPiece> own;
    for (std::size_t i = begin_of(piece_ends_, rank); i < piece_ends_[static_cast<std::size_t>(rank)]; ++i)
        own.push_back({pieces[i].offset - begin, pieces[i].count, false});
    pieces_.upload(device, own);
    int received = 0;
    for (int r = 0; r < size; ++r) received += r == rank ? 0 : sent_by(r);
    received_.resize(static_cast<std::size_t>(received));
    for (auto& of_shard : received_)
        of_shard.resize(device, slice_ends_[static_cast<std::size_t>(rank)] - begin);
}

template <class T>
void RankGradients<T>::all_gather(void* all, const std::vector<std::size_t>& ends) {
    model_.device().synchronize();
    ranks_.all_gather(all, ends);
}

template <class T>
void RankGradients<T>::share_losses(StepScratch<T>& scratch) {
    const auto rows = scratch.losses.size() / static_cast<std::size_t>(sequences_);
    std::vector<std::size_t> ends;
    for (const ShardPart& part : parts_)
        ends.push_back(static_cast<std::size_t>(sequences_ * (part.first + part.count) / part.all) * rows *
                       sizeof(T));
    all_gather(scratch.losses.data(), ends);
}

template <class T>
void RankGradients<T>::sum(Gradients<T>& gradients, ThreadPool& pool) {
    Device& device = model_.device();
    const int rank = ranks_.rank();
    const std::size_t begin = begin_of(slice_ends_, rank),
                      own = slice_ends_[static_cast<std::size_t>(rank)] - begin;

    if (by_ == RankSum::ByRank && gradients.shards.size() > 1) model_.sum_shards(gradients, pool);
    std::vector<std::vector<Communicator::Block>> to(parts_.size()), from(parts_.size());
    std::vector<const T*> shards;  // of this rank's part of the arena, in order
    const auto sent = static_cast<std::size_t>(sent_by(rank));
    auto received = received_.begin();
    for (int r = 0; r < ranks_.size(); ++r) {
        const auto at = static_cast<std::size_t>(r);
        if (r == rank) {
            for (std::size_t i = 0; i < sent; ++i) shards.push_back(gradients.shards[i].data() + begin);
            continue;
        }
        const std::size_t theirs = begin_of(slice_ends_, r);
        for (std::size_t i = 0; i < sent; ++i)
            to[at].push_back({gradients.shards[i].data() + theirs, (slice_ends_[at] - theirs) * sizeof(T)});
        for (int i = 0; i < sent_by(r); ++i, ++received) {
            from[at].push_back({received->data(), own * sizeof(T)});
            shards.push_back(received->data());
        }
    }
    device.synchronize();
    ranks_.all_to_all(to, from);

    gradients.piece_squares.resize(device, piece_ends_.back());
    gradients.norm.resize(device, 1);
    StepOps<T>& step = device.template step_ops<T>();
    T* const total = gradients.total().data();
    double* const squares = gradients.piece_squares.data();
    const int count = static_cast<int>(shards.size());
    // Of many, the sum may only be where the first of them is; of which this rank's may be a later one.
    const bool in_place = count <= kSummedAtOnce || rank == 0;
    T* const into = in_place ? total + begin : received_.front().data();
    device.run_ranges(pool, static_cast<int>(pieces_.size()), [&](int first, int end) {
        step.sum_shards(pieces_.data(), first, end, count, shards.data(), into,
                        squares + begin_of(piece_ends_, rank));
    });
    if (!in_place && own > 0) device.copy(total + begin, into, own * sizeof(T));
    all_gather(total, times(slice_ends_, sizeof(T)));
    all_gather(squares, times(piece_ends_, sizeof(double)));

    Buffer<double>& hidden = gradients.hidden_squares;
    const std::size_t of_shard = hidden.size() / static_cast<std::size_t>(part_.all) * sizeof(double);
    std::vector<std::size_t> ends;
    for (const ShardPart& part : parts_)
        ends.push_back(static_cast<std::size_t>(part.first + part.count) * of_shard);
    all_gather(hidden.data(), ends);
}

template class RankGradients<float>;
template class RankGradients<double>;

}  // namespace normscope
