// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/row_kernels.h"

namespace normscope {

/// The row kernels of an emulated format under PrecisionPolicy::Autocast, which is PyTorch's torch.autocast
/// with the list of operations that it runs on a GPU (PyTorch documentation, "Automatic mixed precision",
/// CUDA op-specific behaviour). `to` is Bf16 or Fp16; Tf32 rounds in GEMM alone, so its kernels are those of
/// float32.
///
/// Rounded, since they work elementwise on the rounded result of a product and PyTorch keeps its type:
/// activation, multiply (an activation's derivative), SwiGLU and the soft cap of the logits, forward and
/// backward. A bias' gradient (column_sums) is the rounded sum of rounded rows, added to the parameter's
/// gradient in float32. Everything else is float32: norms, softmax and cross-entropy, forward and backward;
/// embeddings, residual sums and factors on a branch.
const RowKernels<float>& autocast_kernels(Rounding to);

}  // namespace normscope
