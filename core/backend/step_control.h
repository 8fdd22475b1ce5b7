// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/shared_code.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace normscope {

// What decides over the update of a training step, as values in device memory: whether the loss and the
// gradient are finite, the loss scale, the divergence rule, the clipping factor and the optimizer's numbers.
// The device computes them (StepOps::begin_step, finalize_step), so that a step is one sequence of calls that
// waits for no result on the host. The CPU calls the same functions.

/// Dynamic loss scaling for FP16 training, with the constants of PyTorch's GradScaler: the loss is multiplied
/// by the scale before the backward pass, so that small gradients do not vanish in FP16, and the gradients
/// are divided by it afterwards. A gradient that is not finite halves the scale and skips the update; 2000
/// good steps in a row double it. Scales are powers of two, so scaling is exact.
struct LossScale {
    static constexpr double kInitial = 65536, kGrowth = 2, kBackoff = 0.5;
    static constexpr double kHighest = 0x1p127;  ///< of float32
    static constexpr std::int64_t kInterval = 2000;
    /// Below this scale an overflow is not due to the scale: the run has diverged.
    static constexpr double kLowest = 0x1p-14;

    double scale = kInitial;
    std::int64_t good_steps = 0;  ///< since the scale last changed

    NORMSCOPE_SHARED_CODE bool exhausted() const { return scale < kLowest; }
    /// After each step: whether its gradient overflowed.
    NORMSCOPE_SHARED_CODE void update(bool overflow) {
        if (overflow) {
            scale *= kBackoff;
            good_steps = 0;
        } else if (++good_steps == kInterval) {
            if (scale < kHighest) scale *= kGrowth;  // as GradScaler: never beyond float32
            good_steps = 0;
        }
    }
    bool operator==(const LossScale&) const = default;
};

/// Divergence by finite losses, in nat: the median of the last 20 losses stays above max(first loss, ln V) +
/// 1, or above the best such median + 2, for 50 steps; never within the first 50. It compares and adds whole
/// numbers, so every device decides alike.
struct DivergenceWatch {
    static constexpr int kWindow = 20;
    static constexpr std::int64_t kPatience = 50;

    double losses[kWindow] = {};  ///< the last ones, in no order
    std::int32_t count = 0, next = 0;
    double first = 0;                                         ///< loss
    double median = std::numeric_limits<double>::infinity();  ///< of the last 20
    double best_median = std::numeric_limits<double>::infinity();
    std::int64_t seen = 0, above = 0;

    NORMSCOPE_SHARED_CODE double by_start(double ln_vocab) const {
        return (first > ln_vocab ? first : ln_vocab) + 1;
    }
    NORMSCOPE_SHARED_CODE double by_best() const { return best_median + 2; }

    /// Without the rule.
    NORMSCOPE_SHARED_CODE void push(double loss) {
        losses[next] = loss;
        next = (next + 1) % kWindow;
        if (count < kWindow) ++count;
    }
    /// One more finite loss; true where the divergence is complete.
    NORMSCOPE_SHARED_CODE bool add(double loss, double ln_vocab) {
        if (seen == 0) first = loss;
        ++seen;
        push(loss);
        if (count < kWindow) return false;
        median = upper_median();
        const double start = by_start(ln_vocab), best = by_best();
        above = median > (start < best ? start : best) ? above + 1 : 0;
        if (median < best_median) best_median = median;
        return seen > kPatience && above >= kPatience;
    }

  private:
    /// The middle one, of two the larger.
    NORMSCOPE_SHARED_CODE double upper_median() const {
        double sorted[kWindow];
        for (int i = 0; i < kWindow; ++i) {
            int at = i;
            for (; at > 0 && sorted[at - 1] > losses[i]; --at) sorted[at] = sorted[at - 1];
            sorted[at] = losses[i];
        }
        return sorted[kWindow / 2];
    }
};

/// Fixed by a run.
struct StepRule {
    double beta1, beta2, eps;
    double ln_vocab;
    bool scales_loss;  ///< FP16
};

/// Set by the host before a step. weight_decay and clip as in OptimizerSpec.
struct StepKnobs {
    double lr, weight_decay, clip;
};

/// What a device keeps from step to step.
struct StepControl {
    LossScale loss_scale;
    std::int64_t updates = 0;  ///< of the optimizer so far
    std::int64_t stopped = 0;  ///< not 0 after a step that was Bad or Diverged, until the host resets it
    DivergenceWatch watch;
};

enum class StepEvent : std::int64_t {  // as wide as its neighbours in StepReport: no padding
    Updated,
    Skipped,   ///< the scaled gradient overflowed: no update, half the scale
    Bad,       ///< the loss or the gradient is not finite: no update
    Diverged,  ///< by DivergenceWatch: no update
    Stopped,   ///< launched before the host knew that an earlier step was Bad or Diverged: changes nothing
};

/// The results of a step that the host reads.
struct StepReport {
    double loss;        ///< mean cross-entropy, nat
    double grad_norm;   ///< before clipping, without the loss scale
    double loss_scale;  ///< of this step's backward pass
    LossScale after;
    StepEvent event;
};

/// The coefficients of an optimizer step. `correction`: 1 − β₁^t and √(1 − β₂^t).
struct OptimizerNumbers {
    double lr, beta1, beta2, eps, weight_decay, correction1, root_correction2;
};

/// Of the update with the number t, from 1 on.
NORMSCOPE_SHARED_CODE inline OptimizerNumbers optimizer_numbers(const StepRule& rule, double lr,
                                                                double weight_decay, std::int64_t t) {
    const double steps = static_cast<double>(t);
    return {lr,
            rule.beta1,
            rule.beta2,
            rule.eps,
            weight_decay,
            1 - std::pow(rule.beta1, steps),
            std::sqrt(1 - std::pow(rule.beta2, steps))};
}

/// min(1, clip/(norm + 1e-6)) as torch.nn.utils.clip_grad_norm_; 1 where clip is 0.
NORMSCOPE_SHARED_CODE inline double clip_factor(double norm, double clip) {
    const double factor = clip / (norm + 1e-6);
    return clip > 0 && factor < 1 ? factor : 1;
}

/// In place of a clipping factor: nothing is updated.
inline constexpr double kNoUpdate = -1;

/// The loss gradient's factor for a token of one of `accumulate` batches, and 1/scale for the whole gradient.
template <class T>
struct LossFactors {
    T token, unscale;
};

/// The start of a step.
template <class T>
NORMSCOPE_SHARED_CODE void begin_step(const StepRule& rule, int accumulate, std::int64_t tokens,
                                      const StepControl& control, LossFactors<T>& factors,
                                      StepReport& report) {
    report.loss_scale = rule.scales_loss ? control.loss_scale.scale : 1;
    report.loss = 0;
    const T factor = static_cast<T>(report.loss_scale / accumulate);
    factors = {factor / static_cast<T>(tokens), static_cast<T>(1 / report.loss_scale)};
}

/// What follows from a step's loss (in the report) and gradient norm: the report's event, the control of the
/// next step, the optimizer's numbers and the clipping factor, which is kNoUpdate where there is no update.
///
/// The forward pass does not depend on the loss scale: where its loss is not finite, no smaller scale helps.
///
/// Inline wherever it is called, so that what a kernel writes is checked on the emulated grid.
NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) void finalize_step(
    const StepRule& rule, const StepKnobs& knobs, double norm, StepControl& control, StepReport& report,
    OptimizerNumbers& numbers, double& clip) {
    const bool finite_loss = report.loss - report.loss == 0, finite_norm = norm - norm == 0;
    report.grad_norm = norm;
    clip = kNoUpdate;
    if (control.stopped != 0) {
        report.event = StepEvent::Stopped;
        report.after = control.loss_scale;
        return;
    }
    const bool overflowed = rule.scales_loss && finite_loss && !finite_norm;
    if (rule.scales_loss && finite_loss) control.loss_scale.update(overflowed);
    if (!finite_loss || (!finite_norm && !(overflowed && !control.loss_scale.exhausted())))
        report.event = StepEvent::Bad;
    else if (control.watch.add(report.loss, rule.ln_vocab))
        report.event = StepEvent::Diverged;
    else
        report.event = overflowed ? StepEvent::Skipped : StepEvent::Updated;
    report.after = control.loss_scale;
    control.stopped = report.event == StepEvent::Bad || report.event == StepEvent::Diverged;
    if (report.event != StepEvent::Updated) return;
    numbers = optimizer_numbers(rule, knobs.lr, knobs.weight_decay, ++control.updates);
    clip = clip_factor(norm, knobs.clip);
}

}  // namespace normscope
