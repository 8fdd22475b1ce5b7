// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/stream_graph.h"

#include "core/backend/cuda/launch/check.h"

namespace normscope::cuda {

StreamGraph::StreamGraph(cudaStream_t captured, cudaStream_t stream, const std::function<void()>& calls)
    : stream_(stream) {
    // Thread-local: another thread's cudaMalloc during the capture does not end it.
    check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal), "capture of a step");
    cudaGraph_t graph = nullptr;
    try {
        calls();
    } catch (...) {
        cudaStreamEndCapture(captured, &graph);
        if (graph) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(captured, &graph), "capture of a step");
    const cudaError_t error = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
}

StreamGraph::~StreamGraph() {
    if (exec_) cudaGraphExecDestroy(exec_);  // waits for no launch: CUDA keeps the graph until it is done
}

void StreamGraph::launch() {
    check(cudaGraphLaunch(exec_, stream_), "a step's graph");
}

}  // namespace normscope::cuda
