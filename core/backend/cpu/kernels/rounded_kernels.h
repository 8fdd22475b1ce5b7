// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/row_kernels.h"

namespace normscope {

/// The row kernels of an emulated precision, Bf16 or Fp16 (of Tf32 those of float32): each calls the float32
/// kernel of this processor and rounds its results to the format. Inside a kernel values stay float32, as in
/// the accumulators of hardware.
///
/// Not rounded: a norm's statistics, which belong to the operation; the losses, which are only reported; the
/// cosines and sines of rotary positions, which are constants; dot, whose results are gradients of scalars
/// such as the gates and stay float32; adamw, which works on the float32 master copy.
const RowKernels<float>& rounded_kernels(Rounding to);

}  // namespace normscope
