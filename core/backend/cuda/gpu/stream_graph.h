// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/executable.h"

#include <cuda_runtime.h>

#include <functional>

namespace normscope::cuda {

/// A CUDA graph, launched in a device's stream.
class StreamGraph final : public Executable {
  public:
    /// Captures what `calls` launches in `captured`, a stream that no other thread uses. SystemError where a
    /// call cannot be captured; exceptions of `calls` are passed on.
    StreamGraph(cudaStream_t captured, cudaStream_t stream, const std::function<void()>& calls);
    ~StreamGraph() override;
    StreamGraph(const StreamGraph&) = delete;
    StreamGraph& operator=(const StreamGraph&) = delete;

    void launch() override;

  private:
    cudaStream_t stream_;
    cudaGraphExec_t exec_ = nullptr;
};

}  // namespace normscope::cuda
