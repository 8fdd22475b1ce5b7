// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"
#include "core/backend/cuda/gemm.h"

namespace normscope::cuda {

/// GEMM of the emulated device: the CPU's (cpu/matmul.h), on the calling thread. With a rounding, the rules
/// of cpu/emulated_product.h.
template <class T>
class HostGemm final : public GemmLibrary<T> {
  public:
    /// checked: GridFault for operands that are not in the emulated device's memory, run out of bounds or are
    /// not initialised.
    explicit HostGemm(bool checked, Rounding rounding = Rounding::None,
                      PrecisionPolicy policy = PrecisionPolicy::Pure);
    void multiply(const Gemm<T>&) override;
    void linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) override;

  private:
    void reads(int rows, int columns, const T* x, int ld, const char* what) const;
    void writes(int rows, int columns, T* x, int ld) const;

    CpuKernels<T> kernels_;
    bool checked_;
};

}  // namespace normscope::cuda
