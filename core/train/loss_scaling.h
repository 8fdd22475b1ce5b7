// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace normscope {

/// Dynamic loss scaling for FP16 training, with the constants of PyTorch's GradScaler: the loss is multiplied
/// by the scale before the backward pass, so that small gradients do not vanish in FP16, and the gradients
/// are divided by it afterwards. A gradient that is not finite halves the scale and skips the update;
/// 2000 good steps in a row double it. Scales are powers of two, so scaling itself rounds nothing.
class LossScaler {
  public:
    static constexpr double kInitial = 65536, kGrowth = 2, kBackoff = 0.5;
    static constexpr std::int64_t kInterval = 2000;
    /// Below this scale it is not the scale that overflows: the run has diverged.
    static constexpr double kLowest = 0x1p-14;

    /// Both numbers are the whole state.
    struct State {
        double scale = kInitial;
        std::int64_t good_steps = 0;  ///< since the scale last changed
        bool operator==(const State&) const = default;
    };

    double scale() const { return state_.scale; }
    bool exhausted() const { return state_.scale < kLowest; }
    /// After each step: whether its gradient overflowed.
    void update(bool overflow);

    const State& state() const { return state_; }
    void restore(const State& state) { state_ = state; }

  private:
    State state_;
};

}  // namespace normscope
