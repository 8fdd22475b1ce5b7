// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::cuda {

/// Captured calls as a device launches them, often.
class Executable {
  public:
    virtual ~Executable() = default;
    /// Returns before it is done, as a call.
    virtual void launch() = 0;
};

}  // namespace normscope::cuda
