// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"
#include "core/backend/cuda/launch/gemm.h"

namespace normscope::cuda {

/// GEMM of the emulated device: the CPU's (cpu/matmul.h), on the calling thread. With a rounding, the rules
/// of cpu/emulated_product.h; for TF32 this is what cuBLAS does with CUBLAS_COMPUTE_32F_FAST_TF32.
template <class T>
class HostGemm final : public GemmLibrary<T> {
  public:
    /// checked: GridFault for operands that are not in the emulated device's memory, run out of bounds or are
    /// not initialised.
    explicit HostGemm(bool checked, Rounding rounding = Rounding::None,
                      PrecisionPolicy policy = PrecisionPolicy::Pure);
    void multiply(const Gemm<T>&) override;
    void linear(const Linear<T>&) override;

  private:
    CpuKernels<T> kernels_;
    bool checked_;
};

/// The same for operands in 16 bits: they are converted to float32, which is exact, and multiplied.
class HostShortGemm final : public ShortGemmLibrary {
  public:
    explicit HostShortGemm(bool checked) : checked_(checked) {}
    void multiply(Rounding format, const Gemm<float, std::uint16_t>&) override;
    /// GridFault, where it is checked, also for what a card's GEMM would not take (ShortGemmLibrary).
    void multiply(Rounding format, const ShortProduct&) override;

  private:
    bool checked_;
};

}  // namespace normscope::cuda
