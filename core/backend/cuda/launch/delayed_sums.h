// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/low_precision.h"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace normscope::cuda {

/// sums[i] += Σ_c partial[c·stride + i] over `chunks` chunks, i < width, of float32 or of float64 (wide);
/// what is added is rounded.
struct ChunkSum {
    const void* partial;
    void* sums;
    std::size_t stride, width;
    int chunks;
    Rounding to;
    bool wide;

    template <class V>
    static ChunkSum of(const V* partial, V* sums, unsigned chunks, std::size_t stride, std::size_t width,
                       Rounding to = Rounding::None) {
        return {partial, sums, stride, width, static_cast<int>(chunks), to, std::is_same_v<V, double>};
    }
    std::size_t size() const { return wide ? sizeof(double) : sizeof(float); }
    /// Whether both add to one place.
    bool overlaps(const ChunkSum& o) const {
        const auto *a = static_cast<const unsigned char*>(sums),
                   *b = static_cast<const unsigned char*>(o.sums);
        return a < b + o.width * o.size() && b < a + width * size();
    }
};

/// The sums of one thread whose partial sums are computed and whose chunks are not added yet, from
/// ElementwiseOps::delay_sums() to finish_sums(): one launch adds those of many operations.
struct DelayedSums {
    bool delayed = false;
    std::vector<ChunkSum> waiting;
    // Bytes of Work::Delayed: in use, there, and requested since delay_sums().
    std::size_t used = 0, capacity = 0, requested = 0;

    void drop() {
        waiting.clear();
        used = 0;
    }
};

}  // namespace normscope::cuda
