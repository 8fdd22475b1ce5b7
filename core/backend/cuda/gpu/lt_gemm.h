// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/gpu/lt_plans.h"
#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm.h"

namespace normscope::cuda {

/// GEMM by cuBLASLt, in float32, TF32 or float64. The same call gives the same bits: an algorithm is
/// chosen once per shape and alignment, and cuBLAS adds in a fixed order on one stream (cuBLAS documentation,
/// "Results Reproducibility"). That a row's result does not depend on the number of rows cannot be promised.
template <class T>
class LtGemm final : public GemmLibrary<T> {
  public:
    /// type: Float64 for double; Float32 or Tf32 for float.
    LtGemm(Context& context, LtPlans& plans, LtType type) : context_(context), plans_(plans), type_(type) {}
    void multiply(const Gemm<T>&) override;
    void linear(const Linear<T>&) override;

  private:
    Context& context_;
    LtPlans& plans_;
    LtType type_;
};

/// GEMM by cuBLASLt on tensor cores, operands in BF16 or FP16.
class LtShortGemm final : public ShortGemmLibrary {
  public:
    LtShortGemm(Context& context, LtPlans& plans) : context_(context), plans_(plans) {}
    void multiply(Rounding format, const Gemm<float, std::uint16_t>&) override;
    void multiply(Rounding format, const ShortProduct&) override;

  private:
    Context& context_;
    LtPlans& plans_;
};

}  // namespace normscope::cuda
