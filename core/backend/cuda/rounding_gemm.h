// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm.h"

namespace normscope::cuda {

/// GEMM in BF16 or FP16 by the rules of cpu/emulated_product.h, whose results it gives up to the order of
/// float32 sums: dense copies of the operands in 16 bits are multiplied with a float32 result. Under
/// PrecisionPolicy::Pure the operands are of the format already, and the new C is rounded; under Autocast the
/// copies round them, the product is rounded, and beta·C is added in float32.
///
/// C is float32 in memory, so that results in 16 bits would have to be converted by another kernel: rounding
/// in place costs no more. A training step under autocast has its tape in 16 bits instead (compact_ops.h).
class RoundingGemm final : public GemmLibrary<float> {
  public:
    /// rounding: Bf16 or Fp16. `library` and `context` outlive this.
    RoundingGemm(Context& context, ShortGemmLibrary& library, Rounding rounding, PrecisionPolicy policy)
        : context_(context), library_(library), rounding_(rounding), pure_(policy == PrecisionPolicy::Pure) {}
    void multiply(const Gemm<float>&) override;
    void linear(const Linear<float>&) override;

  private:
    /// Its matrices one after another (one where all of the batch are the same), rows padded to
    /// ShortGemmLibrary::kRow entries, which are not initialised.
    Operand<const std::uint16_t> short_copy(Work slot, const Operand<const float>& of, int rows, int columns,
                                            int batch);
    Gemm<float, std::uint16_t> with_short_operands(const Gemm<float>&);

    Context& context_;
    ShortGemmLibrary& library_;
    Rounding rounding_;
    bool pure_;
};

}  // namespace normscope::cuda
