// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Detects spikes of the loss or the gradient norm relative to the last steps.
///
/// A spike begins where, against the medians of the last 50 steps (at least 20), the gradient norm before
/// clipping exceeds 4 times its median, or the loss exceeds its median by 0.5 nat and by 4 robust standard
/// deviations (1.4826 × the median absolute deviation). It lasts as long as that holds, and is reported once.
class SpikeDetector {
  public:
    /// One more step: loss in nat, gradient norm. The text of a spike that begins here, with its values.
    /// Non-finite values are skipped: they are reported as an overflow or the outcome.
    std::optional<std::string> add(double loss, double grad_norm);

    static constexpr std::size_t kWindow = 50, kMin = 20;
    static constexpr double kGradientFactor = 4, kLossRise = 0.5, kDeviations = 4;

    /// The state for checkpoints.
    std::vector<double> state() const;
    /// Throws InputError for what state() does not return.
    void restore(const std::vector<double>& state);

  private:
    std::vector<double> losses_, norms_;  ///< the last kWindow each, oldest first
    bool inside_ = false;
};

}  // namespace normscope
