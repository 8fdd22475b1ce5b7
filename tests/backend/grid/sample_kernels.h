// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

// Kernels of the emulator's own tests, each sound or with one fault that a GPU might forgive.
namespace normscope::grid::sample {

enum class Fault {
    None,
    MissingBarrier,
    IndexTooLarge,
    WritePastEnd,
    DroppedStep,   ///< a reduction with one shuffle too few
    MissingLane,   ///< a lane that stays away from a shuffle
    OtherBarrier,  ///< two halves of a block at two barriers
    HostPointer,
    MissingFence,
    FloatAtomics,  ///< no race, but the sum depends on the order
    MissingWait,
    EarlyReuse,  ///< a buffer is filled again while others read it
    UninitialisedTail,
    MissingWarpSync,
};

/// out[row] = Σ of x[rows, n]; 128 threads a row.
void row_sums(Fault, const float* x, int rows, int n, float* out);
/// *total = Σ x[n] over `blocks` blocks, the last one to finish adds the parts [blocks] up in order. `ticket`
/// is 0 before and after.
void ordered_sum(Fault, const float* x, int n, int blocks, float* parts, unsigned* ticket, float* total);
/// *total += Σ x[n] by atomics.
/// sums[32]: each lane's sum of 32 values, by five shuffles or by warp_reduce.
void warp_sums(bool shuffles, const float* x, float* sums);
void atomic_sum(const float* x, int n, int blocks, float* total);
/// C[M, N] = A[M, K]·B[K, N], M a multiple of 16, N of 8, K of 16; BF16 or FP16 bits in, one warp a tile, two
/// buffers in shared memory filled by asynchronous copies.
void gemm(Fault, bool bf16, const std::uint16_t* A, const std::uint16_t* B, int M, int N, int K, float* C);
/// C[16, 8] = A[16, 8]·B[8, 8], in TF32, one warp.
void gemm_tf32(const float* A, const float* B, float* C);
/// Reverses 32 numbers within one warp through shared memory.
void reverse(Fault, const float* x, float* out);
/// Every lane copies x[0] to out[32]; then one doubles it, which reads it once more.
void copy_and_double(Fault, float* x, float* out);
/// x[i] = 2·x[i] on a 3-D grid of 3-D blocks.
void doubled(float* x, int n);
/// More threads or shared memory than a block may have.
void too_many_threads();
void too_much_shared();

}  // namespace normscope::grid::sample
