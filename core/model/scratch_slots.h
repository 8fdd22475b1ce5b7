// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"

namespace normscope {

/// The numbers of Device::scratch(): what a worker needs at the same time has a number of its own.
enum ScratchSlot : int {
    kSublayerNormed,  ///< sublayer.cpp: at a norm's output
    kSublayerBranch,  ///< at f
    kSublayerInput,   ///< at u
    kSublayerScaled,  ///< behind a channel scale
    kSublayerSide,    ///< the second way through a parallel layer
    kFeedForward,     ///< before and behind the activation
    kHiddenGradient,  ///< what goes back through the layers
    kLogitGradient,
    kFinalGradient,
    kStepTape,      ///< step_gradient.cpp
    kJacobianRows,  ///< who multiplies by a Jacobian
    kResidualRows,  ///< residual_sum.h's users
    kResidualStatistics,
    kScratchSlotCount
};
static_assert(kScratchSlotCount <= Device::kScratchSlots);

}  // namespace normscope
