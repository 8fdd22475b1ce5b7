// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/cpu_pass_ops.h"

#include <array>

namespace normscope {

/// Kinds of operations of a forward pass.
enum class OperationKind {
    Scores,  ///< QKᵀ
    Softmax,
    Mixing,       ///< PV
    Projections,  ///< of attention: Q, K, V, the output, and their rotary positions
    FeedForward,  ///< the GEMMs of the feed-forward map and of the head
    Activation,   ///< of the feed-forward map, with SwiGLU's product; the soft cap of the logits
    Norm,         ///< all, those on q and k included
    Residual,     ///< residual sums, factors on branches, the embedding's sum
};
inline constexpr int kOperationKinds = 8;
using OperationKinds = std::array<bool, kOperationKinds>;

/// "scores", "softmax", …: the names of the parts in probes.
const std::array<const char*, kOperationKinds>& operation_kind_names();

class SplitLayerOps final : public CpuLayerOps<float> {
  public:
    SplitLayerOps(Rounding rounding, const OperationKinds& low);

    /// GEMM rounds its operands itself.
    bool prefers_transposed() const override { return false; }
    void attention_forward(const AttentionShape& shape, int sequences, const AttentionWeights<float>& w,
                           const float* u, const AttentionTape<float>& tape, float* f) override;

  private:
    CpuKernels<float> attention_;
};

/// The CPU's operations of a forward pass of which only some kinds are in a short format: a GEMM of such a
/// kind rounds its operands and its result, any other operation its result (low_precision.h); all sums are in
/// float32, and the other kinds are the float32 operations. Backward passes are not split.
struct SplitPassOps {
    SplitPassOps(Rounding rounding, const OperationKinds& low);
    operator PassOps<float>() { return {layers, elementwise}; }
    SplitLayerOps layers;
    CpuElementwiseOps<float> elementwise;
};

}  // namespace normscope
