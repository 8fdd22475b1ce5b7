// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// Of training. On the CPU bf16 and fp16 are emulated (trainer.h), and tf32 does not exist.
enum class Precision { Fp32, Tf32, Bf16, Fp16, Fp64 };

/// The results that an emulated format rounds. Pure: that of every operation, and the weights
/// (emulated_product.h, rounded_kernels.h). Autocast: those of GEMM and of elementwise operations on them;
/// weights, norms, softmax, cross-entropy, embeddings and residual sums stay float32, as under PyTorch's
/// torch.autocast (autocast_kernels.h).
enum class PrecisionPolicy { Pure, Autocast };

}  // namespace normscope
