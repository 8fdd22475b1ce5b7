// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"
#include "core/backend/ops.h"

namespace normscope {

/// The operations on the CPU: each runs on the calling thread alone and is done when it returns.
template <class T>
class CpuOps : public Ops<T> {
  public:
    explicit CpuOps(const CpuKernels<T>& kernels) : kernels_(kernels) {}

    bool prefers_transposed() const override;
    int step_rows() const override;
#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/operations.inc"

  protected:
    CpuKernels<T> kernels_;
};

}  // namespace normscope
