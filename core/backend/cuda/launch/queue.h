// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/launch_log.h"
#include "core/backend/grid/grid.h"

#include <memory>
#include <vector>

#if defined(__CUDACC__)
#include "core/backend/cuda/launch/check.h"
#endif

namespace normscope::cuda {

class Call;

/// Where a device's calls run, one after another: a stream, or on the host how the emulated grid runs them.
struct Queue {
#if defined(__CUDACC__)
    grid::Stream stream = nullptr;
#else
    grid::Schedule schedule;
#endif
    std::vector<std::unique_ptr<Call>>* captured = nullptr;  ///< where calls go instead of being run
#if !defined(__CUDACC__)
    LaunchLog* log = nullptr;  ///< where they are written down
#endif
};

/// A kernel, now. SystemError where the launch fails; GridFault for what the emulated grid finds in it.
template <class... P, class... A>
void launch_now(const Queue& queue, const char* name, void (*kernel)(P...), grid::Shape shape,
                const A&... arguments) {
#if defined(__CUDACC__)
    shape.stream = queue.stream;
    check(grid::launch(name, kernel, shape, arguments...), name);
#else
    grid::set_schedule(queue.schedule);
    grid::launch(name, kernel, shape, arguments...);
#endif
}

}  // namespace normscope::cuda
