// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/launch_log.h"
#include "core/backend/device.h"

#include <memory>

namespace normscope {

/// A CUDA device that makes no call: what a pass or a step asks of a card is written into `calls`, with the
/// bytes and operations of each call, for stacks of any size that the address space holds. The calls are
/// those of a card with tiled attention and cuBLASLt, but for kernels that cuBLASLt adds of its own (a
/// reduction of split sums). No graphs: every step makes its calls.
///
/// Its memory is reserved and never used, but for uploads of up to 16 MiB, whose values the host may read
/// back (the pieces of an arena, which say how many entries a kernel has). Downloads of anything else are
/// zeros: nothing that it computes means anything. One driver.
struct CountingDevice {
    std::unique_ptr<Device> device;
    cuda::LaunchLog* calls;  ///< of the device
};
CountingDevice counting_device();

}  // namespace normscope
