// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/tiled/tiled_passes.h"

namespace normscope::cuda {

namespace {

const tiled::TiledPasses<FloatRows> passes;

}  // namespace

const TiledAttention& tiled_float() {
    return passes;
}

const TiledAttention& tiled_attention(Rounding operands) {
    switch (operands) {
        case Rounding::None:
        case Rounding::Tf32:  // float32: more exact than TF32's operands
            break;
        case Rounding::Bf16:
            return tiled_bf16();
        case Rounding::Fp16:
            return tiled_fp16();
    }
    return tiled_float();
}

}  // namespace normscope::cuda
