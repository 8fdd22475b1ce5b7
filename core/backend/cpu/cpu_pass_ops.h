// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"
#include "core/backend/device.h"
#include "core/backend/pass_ops.h"

namespace normscope {

// The operations of a pass on the CPU: each runs on the calling thread alone and is done when it returns.

template <class T>
class CpuLayerOps : public LayerOps<T> {
  public:
    explicit CpuLayerOps(const CpuKernels<T>& kernels) : kernels_(kernels) {}

    bool prefers_transposed() const override;
    int step_rows() const override;
#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/layer_operations.inc"

  protected:
    CpuKernels<T> kernels_;
};

template <class T>
class CpuElementwiseOps final : public ElementwiseOps<T> {
  public:
    explicit CpuElementwiseOps(const RowKernels<T>& rows) : rows_(rows) {}

#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/elementwise_operations.inc"

  private:
    RowKernels<T> rows_;
};

/// Both, with the same kernels.
template <class T>
struct CpuPassOps {
    explicit CpuPassOps(const CpuKernels<T>& kernels) : layers(kernels), elementwise(kernels.rows) {}
    operator PassOps<T>() { return {layers, elementwise}; }
    CpuLayerOps<T> layers;
    CpuElementwiseOps<T> elementwise;
};

}  // namespace normscope
