// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/launch_log.h"
#include "core/backend/grid/grid.h"
#include "core/base/error.h"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#if defined(__CUDACC__)
#include "core/backend/cuda/launch/check.h"
#endif

namespace normscope::cuda {

/// Where a device's kernels run, one after another: a stream, or on the host how the emulated grid runs them.
struct Queue {
#if defined(__CUDACC__)
    grid::Stream stream = nullptr;
#else
    grid::Schedule schedule;
    std::vector<std::function<void()>>* captured = nullptr;  ///< where calls go instead of being run
    LaunchLog* log = nullptr;                                ///< where they are written down

    void submit(std::function<void()> call) const {
        if (captured)
            captured->push_back(std::move(call));
        else
            call();
    }
#endif
};

/// Launches a kernel, `shape` with at least one block. SystemError where the launch fails; GridFault for what
/// the emulated grid finds in it.
template <class... P, class... A>
void launch(const Queue& queue, const char* name, void (*kernel)(P...), grid::Shape shape, A... arguments) {
#if defined(__CUDACC__)
    shape.stream = queue.stream;
    check(grid::launch(name, kernel, shape, arguments...), name);
#else
    if (queue.log) {
        queue.log->add(name, shape.grid.count(), shape.block.count());
        if (!queue.log->executes) return;
    }
    queue.submit([=, schedule = queue.schedule] {
        grid::set_schedule(schedule);
        grid::launch(name, kernel, shape, arguments...);
    });
    if (queue.log) {
        const auto [read, written] = grid::device_memory().touched();
        queue.log->calls.back().touched = {static_cast<double>(read), static_cast<double>(written), 0};
    }
#endif
}

/// Blocks of `per_block` that cover `count`.
inline unsigned blocks_for(std::size_t count, std::size_t per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace normscope::cuda
