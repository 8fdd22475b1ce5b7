// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

namespace normscope {

/// The slots of Device::scratch(): buffers in use at the same time have different slots.
enum ScratchSlot : int {
    kPatchEmbedding,  ///< patches times their weights
    kSublayerNormed,  ///< sublayer.cpp: at a norm's output
    kSublayerBranch,  ///< at f
    kSublayerInput,   ///< at u
    kSublayerScaled,  ///< after a channel scale
    kSublayerSide,    ///< the second path through a parallel layer
    kFeedForward,     ///< before and after the activation
    kHiddenGradient,  ///< the gradient in the layers
    kLogitGradient,
    kFinalGradient,
    kStepTape,      ///< step_gradient.cpp
    kJacobianRows,  ///< users of Jacobian products
    kResidualRows,  ///< residual_sum.h's users
    kResidualStatistics,
    kScratchSlotCount
};
static_assert(kScratchSlotCount <= Device::kScratchSlots);

}  // namespace normscope
