// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"
#include "core/train/optimizers.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace normscope {

/// The moments of all weights on the host, laid out as the arena; `second` is empty under sgd.
template <class T>
struct Moments {
    std::vector<T> first, second;
};

/// The optimizer's state in parts: each rank keeps the moments of a part of the weights, updates these and
/// sends them to all (ZeRO stage 1; Rajbhandari et al. 2020, §5.1). Every weight has the bits of an optimizer
/// with all of them. R ranks send P·(R − 1)/R values more at each step.
template <class T>
class RankOptimizer {
  public:
    /// Restricts the optimizer, before its first step. `ranks` is for the device's memory. All outlive it.
    RankOptimizer(Communicator& ranks, Optimizer<T>& optimizer, Device& device);

    /// Whether this rank is the one to which the moments are sent: the first.
    bool leads() const { return ranks_.rank() == 0; }
    /// All ranks have the weights that each has updated.
    void share(T* weights);
    /// Sends the moments of all to the first rank, which has them; the others have none.
    std::optional<Moments<T>> collect();

  private:
    std::vector<T> collected(T* mine);

    Communicator& ranks_;
    Optimizer<T>& optimizer_;
    Device& device_;
    std::vector<std::size_t> ends_;  ///< of the ranks' parts of the arena, in values
};

}  // namespace normscope
