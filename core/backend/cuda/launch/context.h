// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/delayed_sums.h"
#include "core/backend/cuda/launch/launch.h"

#include <cstddef>

namespace normscope::cuda {

/// Device memory in which one operation keeps intermediate results, by slot: a buffer that is in use at the
/// same time as another has a slot of its own.
enum class Work {
    Reduction,
    Columns,
    Delayed,
    Gradient,
    Mixed,
    Scores,
    Matrix,
    Gram,
    Polynomial,
    Product,
    LeftOperand,
    RightOperand,
    GemmResult,
    Packed,
    Count
};

/// What operations use of their device.
class Context {
  public:
    virtual ~Context() = default;
    virtual Queue queue() const = 0;
    /// Null: calls are not logged.
    virtual LaunchLog* log() const { return nullptr; }
    /// Of the calling thread, until its next call with this slot; of undefined contents. SystemError when out
    /// of memory.
    virtual void* workspace(Work slot, std::size_t bytes) = 0;
    /// Of the calling thread.
    virtual DelayedSums& sums() = 0;
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
};

}  // namespace normscope::cuda
