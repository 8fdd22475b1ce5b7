// SPDX-License-Identifier: GPL-3.0-or-later
// launches: what a card takes for what no kernel computes, one JSON object a line: the launch of a kernel, a node of a
// graph, a barrier of a grid and of a cluster, and its memory's rates. The floor of a training step is counted from them.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}
#define CHECK(call) check(call, #call)

/// Waits for the kernel in front of it where it is launched as a programmatic dependent.
__global__ void nothing(float* x) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    if (x && threadIdx.x == 0 && blockIdx.x == 0) *x += 1;
}

/// `count` barriers over all blocks, each of which must be resident: one counter that only grows.
__global__ void grid_barriers(unsigned* arrived, int count) {
    for (int k = 1; k <= count; ++k) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1);
            while (*static_cast<volatile unsigned*>(arrived) < gridDim.x * static_cast<unsigned>(k)) {
            }
            __threadfence();
        }
        __syncthreads();
    }
}

__global__ void cluster_barriers(int count) {
#if __CUDA_ARCH__ >= 900
    for (int k = 0; k < count; ++k) cooperative_groups::this_cluster().sync();
#endif
}

__global__ void copy_rows(std::size_t count, const float4* from, float4* to) {
    const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) to[i] = from[i];
}

cudaStream_t stream;

/// Median of 20, milliseconds of one of the `of` pieces of a call.
double median_ms(int of, const std::function<void()>& call) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int k = 0; k < 23; ++k) {
        CHECK(cudaEventRecord(start, stream));
        call();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (k > 2) times.push_back(ms);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    return double(times[10]) / of;
}

void line(const char* name, double ms, double bytes = 0) {
    std::printf("{\"operation\": \"%s\", \"ms\": %.6f, \"gb_per_s\": %.1f, \"tflop_per_s\": 0}\n", name, ms, bytes / ms * 1e-6);
    std::fflush(stdout);
}

void launch_nothing(bool dependent, int blocks, float* x) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(128);
    config.stream = stream;
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = dependent ? 1 : 0;
    CHECK(cudaLaunchKernelEx(&config, nothing, x));
}

void graph_nodes(const char* name, bool dependent, int blocks, float* x) {
    constexpr int nodes = 500;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < nodes; ++k) launch_nothing(dependent, blocks, x);
    cudaGraph_t graph;
    cudaGraphExec_t made;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    line(name, median_ms(nodes, [&] { CHECK(cudaGraphLaunch(made, stream)); }));
    CHECK(cudaGraphExecDestroy(made));
    CHECK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaDeviceProp card{};
    CHECK(cudaGetDeviceProperties(&card, 0));
    const int blocks = card.multiProcessorCount;
    float* x;
    CHECK(cudaMalloc(&x, 256));
    CHECK(cudaMemset(x, 0, 256));
    line("kernel launched in a stream", median_ms(500, [&] {
             for (int k = 0; k < 500; ++k) launch_nothing(false, 1, x);
         }));
    graph_nodes("node of a graph, one block", false, 1, x);
    graph_nodes("node of a graph, a block per multiprocessor", false, blocks, x);
    if (card.major >= 9) graph_nodes("node of a graph, programmatic dependent launch", true, blocks, x);

    auto* arrived = reinterpret_cast<unsigned*>(x + 32);
    int count = 1000;
    line("grid barrier, a block per multiprocessor", median_ms(count, [&] {
             CHECK(cudaMemsetAsync(arrived, 0, sizeof *arrived, stream));
             void* arguments[] = {&arrived, &count};
             CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barriers), dim3(static_cast<unsigned>(blocks)),
                                               dim3(256), arguments, 0, stream));
         }));
    if (card.major >= 9) line("cluster barrier, 8 blocks", median_ms(count, [&] {
             cudaLaunchConfig_t config{};
             config.gridDim = dim3(8);
             config.blockDim = dim3(256);
             config.stream = stream;
             cudaLaunchAttribute cluster{};
             cluster.id = cudaLaunchAttributeClusterDimension;
             cluster.val.clusterDim.x = 8;
             cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
             config.attrs = &cluster;
             config.numAttrs = 1;
             CHECK(cudaLaunchKernelEx(&config, cluster_barriers, count));
         }));

    constexpr std::size_t bytes = std::size_t(1) << 30, small = std::size_t(16) << 20, host = std::size_t(128) << 20;
    float4 *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    const auto copied = [&](std::size_t size) {
        return median_ms(1, [&] {
            copy_rows<<<static_cast<unsigned>(blocks * 8), 512, 0, stream>>>(size / sizeof(float4), from, to);
            CHECK(cudaGetLastError());
        });
    };
    line("copy of 1 GiB, read and written", copied(bytes), 2.0 * bytes);
    line("copy of 16 MiB, in the L2 cache", copied(small), 2.0 * small);
    void* pinned;
    CHECK(cudaMallocHost(&pinned, host));
    std::vector<char> pageable(host, 1);
    line("128 MiB to pinned memory", median_ms(1, [&] {
             CHECK(cudaMemcpyAsync(pinned, from, host, cudaMemcpyDeviceToHost, stream));
         }), double(host));
    line("128 MiB to pageable memory", median_ms(1, [&] {
             CHECK(cudaMemcpyAsync(pageable.data(), from, host, cudaMemcpyDeviceToHost, stream));
         }), double(host));
    line("4 bytes to pinned memory, waited for", median_ms(1, [&] {
             CHECK(cudaMemcpyAsync(pinned, from, 4, cudaMemcpyDeviceToHost, stream));
             CHECK(cudaStreamSynchronize(stream));
         }));
    return 0;
}
