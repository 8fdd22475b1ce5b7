// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/step_control.h"
#include "core/train/outcome.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Classifies a run by its losses. Losses and entropies are in nat, steps count from 0.
///
/// H₁ is the corpus' unigram entropy: the loss of the best model that ignores its input. "The last 20" is the
/// mean of the last 20 losses; a rule that asks it to be high asks the same of their median, so that one
/// spike in the last steps decides nothing.
///
/// **Diverged**, while it trains: the median of the last 20 losses stays above max(first loss, ln V) + 1, or
/// above the best such median + 2, for 50 steps; never within the first 50. (Non-finite values are reported
/// by the trainer.) At the end: the last 20 above ln V + 1.
///
/// **Collapsed**: best is the lowest mean of 20 losses in a row, H₁ − best what the run had gained. The run
/// lost more than a quarter of it: last 20 − best > (H₁ − best) / 4. Three conditions keep noise from being
/// called a collapse: best lies below 0.97·H₁ (the run had learned more than the unigram), and what was lost
/// exceeds both 0.03·H₁ and six standard errors of the difference of the two means, from the scatter within
/// their windows. (Best is the lowest of many means, so it is low by luck too: by 2.2 standard errors for 50
/// windows.) Its step is the first one whose mean of 20 lies above best + (H₁ − best) / 4 and after which no
/// mean comes back below it.
///
/// **Stalled**: the last 20 at or above 0.97·H₁: the run learned no more than the unigram. Its gradients are
/// vanishing where the median of the last 20 ratios first/last (‖∂L/∂h‖ after layer 1 over that after layer
/// D, on the training batch) is below 0.01, exploding where it is above 100, neither otherwise. A run that
/// ends within its warm-up or that is still falling is also called stalled: the verdict covers the steps
/// made, not those to come.
///
/// Where an update was skipped (an overflow of the scaled gradient in FP16) the text counts them. Where that
/// is more than one in ten, nothing is stated about the gradients: the ratio is that of gradients that were
/// not used.
///
/// **Finished**: none of these. Where the last 20 are not below the entropy of a token given the one before
/// it the text states so: such a run has learned at most a table of token pairs. Runs of fewer than 20 steps
/// finish, and their text states that they are too short. Where H₁ is unknown (NaN) or 0 collapse and
/// stalling are not checked.
///
/// At the end diverged goes before collapsed, collapsed before stalled: a run that reached 2.4 and fell back
/// to H₁ had learned something.
class Verdict {
  public:
    /// `bigram_entropy`: Corpus::entropy_given(1); NaN where unknown.
    Verdict(double ln_vocab, double unigram_entropy, std::int64_t warmup,
            double bigram_entropy = std::numeric_limits<double>::quiet_NaN());

    /// One more step; returns the divergence when it is complete. `gradient_ratio` may be NaN or infinite (an
    /// overflow in FP16): it is ignored then. `skipped`: the step's update was not made.
    std::optional<Outcome> add(std::int64_t step, double loss, double gradient_ratio, bool skipped = false);

    /// The outcome of a run that reached its last step, with the deciding values.
    Outcome at_end(std::int64_t last_step) const;

    static constexpr std::size_t kWindow = DivergenceWatch::kWindow;
    static constexpr std::int64_t kPatience = DivergenceWatch::kPatience;
    static constexpr double kUnigramShare =
        0.97;  ///< of H₁: at or above it nothing beyond the unigram was learned
    static constexpr double kVanishing = 0.01, kExploding = 100;

    /// The rule on divergence, for a device that applies it too.
    const DivergenceWatch& watch() const { return watch_; }
    /// The state for checkpoints.
    std::vector<double> state() const;
    /// Continues from `state`, also one of the second layout, which did not count the skipped updates, or of
    /// the first, which kept neither the mean nor the step of the best window: its median then replaces the
    /// mean. Throws InputError for anything else.
    void restore(const std::vector<double>& state);

  private:
    /// Of 20 losses in a row. error: standard error of the mean, from their scatter.
    struct Window {
        double mean, median, error;
    };
    /// The last 20 losses, or the 20 before the last `skip`.
    Window window(std::size_t skip = 0) const;
    bool has_unigram_entropy() const { return unigram_entropy_ > 0; }  // false for NaN
    /// A mean above this has lost more than a quarter of what was gained.
    double collapse_level() const { return best_mean_ + (unigram_entropy_ - best_mean_) / 4; }
    bool collapsed(const Window& now) const;
    std::string stalled_text(const Window& now) const;
    std::string gradient_words() const;
    bool many_skipped() const { return 10 * skipped_ > watch_.seen; }
    /// " · 23 of 30 updates skipped: the gradient overflowed"; empty where none was.
    std::string skipped_words() const;
    /// The watch's losses are the last of losses_.
    void fill_watch();
    void restore_first_layout(const std::vector<double>& state);

    double ln_vocab_, unigram_entropy_, bigram_entropy_;
    std::int64_t warmup_;
    std::vector<double> losses_;  ///< the last 2·kWindow, oldest first
    std::vector<double> ratios_;  ///< the last kWindow that were finite, oldest first
    DivergenceWatch watch_;
    std::int64_t skipped_ = 0;  ///< updates
    double best_mean_, best_error_ = 0;
    std::int64_t best_step_ = -1;  ///< last step of the window with the best mean; -1 if unknown
    std::int64_t held_step_ = -1;  ///< the last step whose mean was at or below collapse_level()
};

}  // namespace normscope
