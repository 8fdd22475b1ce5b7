// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/cpu_pass_ops.h"

namespace normscope {

class OperandLayerOps final : public CpuLayerOps<float> {
  public:
    explicit OperandLayerOps(const OperandFormat& format);

    /// GEMM rounds its operands itself.
    bool prefers_transposed() const override { return false; }
    void norm_forward(const NormRows<float>& rows, const float* eps, const float* scale, float* y) override;

  private:
    const OperandFormat& format_;
};

/// The CPU's operations of a forward pass in which every GEMM (QKᵀ and PV of each head too) reads operands of
/// an 8-bit format, and a format in blocks has γ of every norm in blocks, along the channels. Everything else
/// is float32. A scale for a whole operand is that of one call: of the activations of one sequence.
struct OperandPassOps {
    explicit OperandPassOps(const OperandFormat& format);
    operator PassOps<float>() { return {layers, elementwise}; }
    OperandLayerOps layers;
    CpuElementwiseOps<float> elementwise;
};

}  // namespace normscope
