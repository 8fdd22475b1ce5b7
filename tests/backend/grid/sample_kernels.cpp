// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_kernels.h"

#include "core/backend/grid/grid.h"
#include "core/backend/grid/tensor_core.h"

namespace normscope::grid::sample {

namespace {

constexpr unsigned kAll = 0xffffffffu;

__global__ void row_sums_kernel(Fault fault, const float* x, int n, float* out) {
    NORMSCOPE_SHARED(float, parts, 4);
    const int row = static_cast<int>(blockIdx.x);
    const int last = fault == Fault::IndexTooLarge ? n + 1 : n;
    float sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < last; i += 128) sum += x[row * n + i];
    for (int step = fault == Fault::DroppedStep ? 8 : 16; step > 0; step /= 2) {
        if (fault == Fault::MissingLane && threadIdx.x == 77 && step == 4) continue;
        sum += __shfl_xor_sync(kAll, sum, step);
    }
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0 && !(fault == Fault::UninitialisedTail && warp == 3)) parts[warp] = sum;
    if (fault == Fault::OtherBarrier && threadIdx.x >= 64)
        __syncthreads();
    else if (fault != Fault::MissingBarrier)
        __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0;
    for (int w = 0; w < 4; ++w) total += parts[w];
    out[fault == Fault::WritePastEnd ? row + 1 : row] = total;
}

__global__ void ordered_sum_kernel(Fault fault, const float* x, int n, float* parts, unsigned* ticket,
                                   float* total) {
    NORMSCOPE_SHARED(unsigned, mine, 1);
    float sum = 0;
    for (int i = static_cast<int>(blockIdx.x * 32 + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * 32))
        sum += x[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        if (fault != Fault::MissingFence) __threadfence();
        mine[0] = atomicInc(ticket, gridDim.x - 1);
    }
    __syncthreads();
    if (mine[0] != gridDim.x - 1 || threadIdx.x != 0) return;
    float all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += parts[b];
    *total = all;
}

__global__ void warp_sums_kernel(bool shuffles, const float* x, float* sums) {
    float sum = x[threadIdx.x];
    if (shuffles)
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    else
        sum = warp_reduce(sum, [](float a, float b) { return a + b; });
    sums[threadIdx.x] = sum;
}

__global__ void atomic_sum_kernel(const float* x, int n, float* total) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) atomicAdd(total, x[i]);
}

template <MmaFormat F>
__global__ void gemm_kernel(Fault fault, const std::uint16_t* A, const std::uint16_t* B, int N, int K,
                            float* C) {
    // [buffer][row][column]
    NORMSCOPE_SHARED(std::uint16_t, a, 2 * 16 * 16);
    NORMSCOPE_SHARED(std::uint16_t, b, 2 * 16 * 8);
    const int lane = static_cast<int>(threadIdx.x), m0 = static_cast<int>(blockIdx.y) * 16,
              n0 = static_cast<int>(blockIdx.x) * 8;
    float c[4] = {};
    const auto fill = [&](int buffer, int k0) {
        const int row = lane / 2, column = lane % 2 * 8;
        cp_async16(a + buffer * 256 + row * 16 + column, A + (m0 + row) * K + k0 + column);
        if (lane < 16) cp_async16(b + buffer * 128 + lane * 8, B + (k0 + lane) * N + n0);
        cp_async_commit();
    };
    fill(0, 0);
    for (int k0 = 0, buffer = 0; k0 < K; k0 += 16, buffer ^= 1) {
        const bool more = k0 + 16 < K;
        if (more && fault == Fault::EarlyReuse) fill(buffer, k0 + 16);
        if (more && fault != Fault::EarlyReuse) fill(buffer ^ 1, k0 + 16);
        if (fault != Fault::MissingWait) {
            if (more)
                cp_async_wait<1>();
            else
                cp_async_wait<0>();
        }
        __syncthreads();
        std::uint32_t fa[4], fb[4];
        ldmatrix_x4<false>(fa, a + buffer * 256 + (lane % 16) * 16 + lane / 16 * 8);
        // Rows of B are k: its fragments are those of the transpose. Matrices 2 and 3 are not used.
        ldmatrix_x4<true>(fb, b + buffer * 128 + (lane % 16) * 8);
        const std::uint32_t two[2] = {fb[0], fb[1]};
        mma_m16n8k16<F>(c, fa, two);
        __syncthreads();
    }
    cp_async_wait<0>();
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) C[(m0 + g + (i >= 2 ? 8 : 0)) * N + n0 + 2 * t + (i & 1)] = c[i];
}

__global__ void gemm_tf32_kernel(const float* A, const float* B, float* C) {
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    std::uint32_t a[4], b[2];
    float c[4] = {};
    for (int i = 0; i < 4; ++i) std::memcpy(&a[i], A + (g + 8 * (i & 1)) * 8 + t + (i >= 2 ? 4 : 0), 4);
    for (int i = 0; i < 2; ++i) std::memcpy(&b[i], B + (t + 4 * i) * 8 + g, 4);
    mma_m16n8k8_tf32(c, a, b);
    for (int i = 0; i < 4; ++i) C[(g + (i >= 2 ? 8 : 0)) * 8 + 2 * t + (i & 1)] = c[i];
}

__global__ void reverse_kernel(Fault fault, const float* x, float* out) {
    NORMSCOPE_DYNAMIC_SHARED(float, buffer);
    buffer[threadIdx.x] = x[threadIdx.x];
    if (fault != Fault::MissingWarpSync) __syncwarp();
    out[threadIdx.x] = buffer[31 - threadIdx.x];
}

__global__ void copy_and_double_kernel(Fault fault, float* x, float* out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[0], 1);  // all have read, but shuffles order nothing
    if (fault != Fault::MissingWarpSync) __syncwarp();
    if (threadIdx.x == 17) x[0] *= 2;
}

__global__ void doubled_kernel(float* x, int n) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const auto i = static_cast<int>(block * blockDim.x * blockDim.y * blockDim.z + thread);
    if (i < n) x[i] = 2 * x[i];
}

#if !defined(__CUDACC__)  // whose assembler rejects it
__global__ void greedy_kernel() {
    NORMSCOPE_SHARED(float, buffer, 12300);
    buffer[threadIdx.x] = 0;
}
#endif

}  // namespace

void row_sums(Fault fault, const float* x, int rows, int n, float* out) {
    float local[1] = {};
    if (fault == Fault::HostPointer) x = local;
    launch("row_sums", row_sums_kernel, Shape{{static_cast<unsigned>(rows)}, {128}}, fault, x, n, out);
}

void ordered_sum(Fault fault, const float* x, int n, int blocks, float* parts, unsigned* ticket,
                 float* total) {
    launch("ordered_sum", ordered_sum_kernel, Shape{{static_cast<unsigned>(blocks)}, {32}}, fault, x, n,
           parts, ticket, total);
}

void warp_sums(bool shuffles, const float* x, float* sums) {
    launch("warp_sums", warp_sums_kernel, Shape{{1}, {32}}, shuffles, x, sums);
}

void atomic_sum(const float* x, int n, int blocks, float* total) {
    launch("atomic_sum", atomic_sum_kernel, Shape{{static_cast<unsigned>(blocks)}, {64}}, x, n, total);
}

void gemm(Fault fault, bool bf16, const std::uint16_t* A, const std::uint16_t* B, int M, int N, int K,
          float* C) {
    const Shape shape{{static_cast<unsigned>(N / 8), static_cast<unsigned>(M / 16)}, {32}};
    if (bf16)
        launch("gemm", gemm_kernel<MmaFormat::Bf16>, shape, fault, A, B, N, K, C);
    else
        launch("gemm", gemm_kernel<MmaFormat::Fp16>, shape, fault, A, B, N, K, C);
}

void gemm_tf32(const float* A, const float* B, float* C) {
    launch("gemm_tf32", gemm_tf32_kernel, Shape{{1}, {32}}, A, B, C);
}

void reverse(Fault fault, const float* x, float* out) {
    launch("reverse", reverse_kernel, Shape{{1}, {32}, 32 * sizeof(float)}, fault, x, out);
}

void copy_and_double(Fault fault, float* x, float* out) {
    launch("copy_and_double", copy_and_double_kernel, Shape{{1}, {32}}, fault, x, out);
}

void doubled(float* x, int n) {
    launch("doubled", doubled_kernel, Shape{{3, 2, 2}, {4, 2, 3}}, x, n);
}

#if !defined(__CUDACC__)
void too_many_threads() {
    launch("greedy", greedy_kernel, Shape{{1}, {1025}});
}
void too_much_shared() {
    launch("greedy", greedy_kernel, Shape{{1}, {32}});
}
#endif

}  // namespace normscope::grid::sample
