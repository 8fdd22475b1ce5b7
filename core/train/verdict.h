// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/train/outcome.h"

namespace normscope {

/// Watches the losses of a run and says how it stands.
///
/// Diverged: the median of the last 20 losses stays above max(initial loss, ln V) + 1 nat, or above the best such
/// median + 2 nat, for 50 steps; never within the first 50 steps. (A value that is not finite is the trainer's to see.)
/// Stalled, asked at the end: after warm-up the mean of the last 20 losses lies within 3 % of the corpus' unigram
/// entropy while the gradient's first-to-last ratio (‖∂L/∂h‖ after layer 1 over after layer D) is under 1e-3: the model learned the token
/// frequencies and its first layers get no signal.
class Verdict {
  public:
    Verdict(double ln_vocab, double unigram_entropy, std::int64_t warmup);

    /// One more step; returns the divergence when it is complete.
    std::optional<Outcome> add(std::int64_t step, double loss, double gradient_ratio);

    /// How a run that reached its last step ended.
    Outcome at_end(std::int64_t last_step) const;

    static constexpr std::size_t kWindow = 20;
    static constexpr std::int64_t kPatience = 50;

    /// For checkpoints: what was seen so far.
    std::vector<double> state() const;
    void restore(const std::vector<double>& state);

  private:
    double window_median() const;
    double window_mean() const;

    double ln_vocab_, unigram_entropy_;
    std::int64_t warmup_;
    std::vector<double> window_;  ///< the last kWindow losses, oldest first
    double initial_ = 0, best_ = 0, last_ratio_ = 1;
    std::int64_t seen_ = 0, above_ = 0;
};

}  // namespace normscope
