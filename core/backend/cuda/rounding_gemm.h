// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/context.h"
#include "core/backend/cuda/gemm.h"

namespace normscope::cuda {

/// GEMM in an emulated format over a float32 GEMM, by the rules of cpu/emulated_product.h: under
/// PrecisionPolicy::Pure the operands are already of the format and the new C is rounded; under Autocast
/// dense rounded copies of the operands are multiplied, the result is rounded, and beta·C is added in
/// float32.
class RoundingGemm final : public GemmLibrary<float> {
  public:
    /// rounding: Bf16 or Fp16. `plain` and `context` outlive this.
    RoundingGemm(Context& context, GemmLibrary<float>& plain, Rounding rounding, PrecisionPolicy policy)
        : context_(context), plain_(plain), rounding_(rounding), pure_(policy == PrecisionPolicy::Pure) {}
    void multiply(const Gemm<float>&) override;
    void linear(int R, int out, int in, const float* x, const float* weight, const float* bias,
                float* y) override;

  private:
    /// Dense, its matrices one after another (one where all of the batch are the same).
    Operand<const float> rounded_copy(Work slot, const Operand<const float>& of, int rows, int columns,
                                      int batch);
    float* work(Work slot, std::size_t count);

    Context& context_;
    GemmLibrary<float>& plain_;
    Rounding rounding_;
    bool pure_;
};

}  // namespace normscope::cuda
