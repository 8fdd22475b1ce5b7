// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"
#include "core/model/parameters.h"

namespace normscope {

/// GPAS clips the gates' gradient separately, jointly over all gates and after the global clip, which counts
/// them too, as the training script of [G] does (0.01 for Sandwich-LN at 1B and Pre-LN at 7B, off elsewhere).
/// No effect where clip is 0 (off) or no gate is learned.
template <class T>
class GateClip {
  public:
    GateClip(const ParameterTable& table, Device& device);
    /// `gradients` is the arena before the global clip, *global the factor of that clip, both in device
    /// memory; here the gates' entries are scaled so that after it their joint norm is at most `clip`.
    void apply(double clip, const double* global, T* gradients);

  private:
    Device& device_;
    Buffer<std::size_t> gates_;
};

/// The same once, with a factor on the host.
template <class T>
void clip_gates(const ParameterTable& table, double clip, double global, T* gradients,
                Device& device = cpu_device());

}  // namespace normscope
