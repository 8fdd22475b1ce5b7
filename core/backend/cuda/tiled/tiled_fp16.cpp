// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/tiled/tiled_passes.h"

namespace normscope::cuda {

namespace {

const tiled::TiledPasses<TensorRows<grid::MmaFormat::Fp16>> passes;

}  // namespace

const TiledAttention& tiled_fp16() {
    return passes;
}

}  // namespace normscope::cuda
