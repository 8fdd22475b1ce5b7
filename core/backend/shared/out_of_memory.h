// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

namespace normscope {

/// A device has no memory for a request. The line names the requested size. The device can still be used, as
/// after cudaErrorMemoryAllocation.
class OutOfMemory : public SystemError {
  public:
    using SystemError::SystemError;
};

}  // namespace normscope
