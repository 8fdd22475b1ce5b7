// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/step_ops.h"

namespace normscope {

/// The operations of a training step on the CPU: each runs on the calling thread alone and is done when it
/// returns.
template <class T>
class CpuStepOps final : public StepOps<T> {
  public:
#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/step_operations.inc"
};

}  // namespace normscope
