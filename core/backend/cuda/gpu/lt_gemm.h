// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/context.h"
#include "core/backend/cuda/gemm.h"
#include "core/backend/cuda/gpu/lt_plans.h"

namespace normscope::cuda {

/// GEMM by cuBLASLt, in float32 (no TF32) or float64. The same call gives the same bits: an algorithm is
/// chosen once per shape and alignment, and cuBLAS adds in a fixed order on one stream (cuBLAS documentation,
/// "Results Reproducibility"). That a row's result does not depend on the number of rows cannot be promised.
template <class T>
class LtGemm final : public GemmLibrary<T> {
  public:
    LtGemm(Context& context, LtPlans& plans) : context_(context), plans_(plans) {}
    void multiply(const Gemm<T>&) override;
    void linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) override;

  private:
    bool run(const Gemm<T>& g, const T* bias);

    Context& context_;
    LtPlans& plans_;
};

}  // namespace normscope::cuda
