// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <functional>

namespace normscope::cuda {

/// A CUDA graph, launched in a device's stream.
class StreamGraph final : public Graph {
  public:
    /// Captures what `calls` launches in `captured`, a stream that no other thread uses: calls of other
    /// threads go to the device's stream and are not captured. moves: counts the blocks of scratch memory
    /// that moved. SystemError where a call cannot be captured; exceptions of `calls` are passed on.
    StreamGraph(cudaStream_t captured, cudaStream_t stream, const std::atomic<std::uint64_t>& moves,
                const std::function<void()>& calls);
    ~StreamGraph() override;
    StreamGraph(const StreamGraph&) = delete;
    StreamGraph& operator=(const StreamGraph&) = delete;

    bool valid() const override { return moves_ == at_; }
    void launch() override;

  private:
    cudaStream_t stream_;
    const std::atomic<std::uint64_t>& moves_;
    std::uint64_t at_;
    cudaGraphExec_t exec_ = nullptr;
};

}  // namespace normscope::cuda
