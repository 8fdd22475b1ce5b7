// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/compact_ops.h"
#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm.h"

#include <memory>

namespace normscope::cuda {

/// CompactOps as CUDA kernels, attention in tiles, and GEMM in 16 bits. Made with the operations of autocast
/// in this format; context and library outlive them.
std::unique_ptr<CompactOps<float>> compact_ops(Context& context, ShortGemmLibrary& library, Rounding format);

}  // namespace normscope::cuda
