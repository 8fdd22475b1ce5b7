// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/cpu_ops.h"

namespace normscope {

/// Emulated precision: the CPU's operations with every result rounded to BF16 or FP16 (low_precision.h),
/// storage and accumulation in float32. A decorator one level below Ops, of the kernels inside operations:
/// attention is one operation, and the format rounds the results inside it. Pure: see rounded_kernels.h and
/// emulated_product.h. Autocast: autocast_kernels.h; weights are read as float32 and rounded at the product.
/// TF32 has one policy, Autocast, and rounds at products alone.
class EmulatedOps final : public CpuOps<float> {
  public:
    EmulatedOps(Rounding rounding, PrecisionPolicy policy);

    /// A whole shard: a parameter's gradient is rounded once per shard, as one operation.
    int step_rows() const override;
    /// A token's sum over its rows is one operation: accumulated in float32, then rounded.
    void embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const float* dx,
                       int vocab, float* dtable, int context, float* dpositions) override;
    /// Under autocast a weight is rounded where GEMM reads it, so its transpose is rounded here.
    void transpose_weight(int out, int in, const float* weight, float* transposed) override;
    void round_weights(std::size_t count, float* weights) override;

  private:
    /// Rounding outside of GEMM; None under autocast.
    Rounding storage_;
};

}  // namespace normscope
