// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/ops/attention.h"
#include "core/backend/cuda/ops/loss.h"
#include "core/backend/cuda/ops/optimizer.h"

namespace normscope::cuda {

template class CudaLayerOps<double>;
template class CudaElementwiseOps<double>;
template class CudaStepOps<double>;

}  // namespace normscope::cuda
