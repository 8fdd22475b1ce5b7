// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/call.h"
#include "core/base/error.h"

#include <cstddef>

namespace normscope::cuda {

/// Launches a kernel, `shape` with at least one block, or captures the launch. Errors as launch_now().
template <class... P, class... A>
void launch(const Queue& queue, const char* name, Kernel<P...> kernel, grid::Shape shape, A... arguments) {
#if !defined(__CUDACC__)
    if (queue.log) {
        queue.log->add(name, shape.grid.count(), shape.block.count());
        if (!queue.log->executes) return;
    }
#endif
    if (queue.captured)
        queue.captured->push_back(std::make_unique<LaunchCall>(
            name, kernel, shape, Parameters<P...>{{{static_cast<P>(arguments)}...}}));
    else
        launch_now(queue, name, kernel.one, shape, static_cast<P>(arguments)...);
#if !defined(__CUDACC__)
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
