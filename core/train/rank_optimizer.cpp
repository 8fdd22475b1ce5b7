// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/rank_optimizer.h"

namespace normscope {

namespace {

std::size_t part_begin(const std::vector<std::size_t>& ends, std::size_t rank) {
    return rank == 0 ? 0 : ends[rank - 1];
}

}  // namespace

template <class T>
RankOptimizer<T>::RankOptimizer(Communicator& ranks, Optimizer<T>& optimizer, Device& device)
    : ranks_(ranks), optimizer_(optimizer), device_(device), ends_(optimizer.part_ends(ranks.size())) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    optimizer.restrict_to(part_begin(ends_, rank), ends_[rank]);
}

template <class T>
void RankOptimizer<T>::share(T* weights) {
    std::vector<std::size_t> bytes = ends_;
    for (std::size_t& end : bytes) end *= sizeof(T);
    device_.synchronize();
    ranks_.all_gather(weights, bytes);
}

template <class T>
std::vector<T> RankOptimizer<T>::collected(T* mine) {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    std::vector<std::vector<Communicator::Block>> to(ends_.size()), from(ends_.size());
    Buffer<T> all;
    to[0] = {{mine, (ends_[rank] - part_begin(ends_, rank)) * sizeof(T)}};
    if (leads()) {
        all.resize(device_, ends_.back());
        for (std::size_t r = 0; r < ends_.size(); ++r) {
            const std::size_t begin = part_begin(ends_, r);
            from[r] = {{all.data() + begin, (ends_[r] - begin) * sizeof(T)}};
        }
    }
    device_.synchronize();
    ranks_.all_to_all(to, from);
    return all.values();
}

template <class T>
std::optional<Moments<T>> RankOptimizer<T>::collect() {
    Moments<T> moments;
    moments.first = collected(optimizer_.device_moment1());
    if (optimizer_.has_second()) moments.second = collected(optimizer_.device_moment2());
    return leads() ? std::optional(std::move(moments)) : std::nullopt;
}

template class RankOptimizer<float>;
template class RankOptimizer<double>;

}  // namespace normscope
