// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/arena_piece.h"
#include "core/backend/step_control.h"

#include <cstddef>
#include <cstdint>

namespace normscope {

// The operations of a training step, over a device's memory: what becomes of the gradients that passes give.
// They work on whole arenas, in pieces, and on numbers of the step, and are never rounded to a format.
//
// Addresses, order and concurrency are those of the operations of a pass (pass_ops.h): every pointer is an
// address of the device unless it is stated to be the host's, nothing is read on the host, calls are made in
// the order in which their results are needed, two calls may run concurrently where neither writes what the
// other reads or writes, and the same call gives the same bits every time. A call may return before it is
// done; non-finite values are no error and propagate.
//
// The pieces first … end − 1 of an array of pieces are one call's: what it gives for a piece does not depend
// on the others. Pointers may be null only where stated.

/// A step's last losses, [count]; their mean over `divisor` is added to the report's loss.
template <class T>
struct StepLosses {
    std::size_t count;
    const T* losses;
    double divisor;
};
/// *norm = √(Σ squares) / *divisor of the gradient's pieces, [count]; divisor may be null.
struct GradientSquares {
    int count;
    const double *squares, *divisor;
    double* norm;
};

/// Of StepOps::sum_shards.
inline constexpr int kSummedAtOnce = 16;

template <class T>
class StepOps {
  public:
    virtual ~StepOps() = default;

#define NORMSCOPE_OPERATION(name, parameters, names) virtual void name parameters = 0;
#include "core/backend/step_operations.inc"
};

}  // namespace normscope
