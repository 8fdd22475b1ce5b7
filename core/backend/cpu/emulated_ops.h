// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/cpu_pass_ops.h"

namespace normscope {

// Emulated precision: the CPU's operations of a pass with every result rounded to BF16 or FP16
// (low_precision.h), storage and accumulation in float32. A decorator one level below operations, of the
// kernels inside them: attention is one operation, and the format rounds the results inside it. Pure: see
// rounded_kernels.h and emulated_product.h. Autocast: autocast_kernels.h; weights are read as float32 and
// rounded at the product. TF32 has one policy, Autocast, and rounds at products alone.

/// The layers, which do more than call rounded kernels where one operation is several of them.
class EmulatedLayerOps final : public CpuLayerOps<float> {
  public:
    EmulatedLayerOps(Rounding rounding, PrecisionPolicy policy);

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

struct EmulatedPassOps {
    EmulatedPassOps(Rounding rounding, PrecisionPolicy policy);
    operator PassOps<float>() { return {layers, elementwise}; }
    EmulatedLayerOps layers;
    CpuElementwiseOps<float> elementwise;
};

}  // namespace normscope
