// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// Of training. On the CPU tf32, bf16 and fp16 are emulated (trainer.h).
enum class Precision { Fp32, Tf32, Bf16, Fp16, Fp64 };

/// The results that BF16 and FP16 round; TF32 rounds operands of GEMM and nothing else. Pure: that of every
/// operation, and the weights (emulated_product.h, rounded_kernels.h). Autocast: those of GEMM and of
/// elementwise operations on them; weights, norms, softmax, cross-entropy, embeddings and residual sums stay
/// float32, as under PyTorch's torch.autocast (autocast_kernels.h).
enum class PrecisionPolicy { Pure, Autocast };

}  // namespace normscope
