// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/low_precision.h"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace normscope::cuda {

/// sums[i] += Σ_c partial[c·stride + i] over `chunks` chunks, i < width; what is added is rounded.
template <class V>
struct ChunkSum {
    const V* partial;
    V* sums;
    unsigned chunks, stride, width;
    Rounding to = Rounding::None;
    bool overlaps(const ChunkSum& o) const { return sums < o.sums + o.width && o.sums < sums + width; }
};

/// The sums of one thread whose partial sums are computed and whose chunks are not added yet, from
/// ElementwiseOps::delay_sums() to finish_sums(): one launch adds those of many operations.
struct DelayedSums {
    bool delayed = false;
    std::vector<ChunkSum<float>> floats;
    std::vector<ChunkSum<double>> doubles;
    // Bytes of Work::Delayed: in use, there, and requested since delay_sums().
    std::size_t used = 0, capacity = 0, requested = 0;

    template <class V>
    std::vector<ChunkSum<V>>& of() {
        if constexpr (std::is_same_v<V, double>)
            return doubles;
        else
            return floats;
    }
    bool empty() const { return floats.empty() && doubles.empty(); }
    void drop() {
        floats.clear();
        doubles.clear();
        used = 0;
    }
};

}  // namespace normscope::cuda
