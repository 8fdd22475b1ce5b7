// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/nan.h"
#include "core/run/experiment.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// The first steps of a run, one value per step: of a draft, or of a run that was recorded.
struct FirstSteps {
    std::vector<double> loss;  ///< nat, of the training batch
    std::vector<double>
        gradient;  ///< ‖∂L/∂h‖ after layer 1 over that after the last (first/last), same batch
    std::int64_t overflows = 0;  ///< steps without an update (FP16)
};

/// The number of steps of a draft: 16, after the warm-up where the recipe has one; at most those of the run.
std::int64_t draft_steps(const Recipe& recipe);
/// The first steps of a recorded run, `count` at most.
FirstSteps first_steps(const RunData& run, std::int64_t count);

/// The beginning of a run, without probes, held-out losses, a recording or checkpoints: bit for bit the
/// losses of the first steps of that run, since neither disturbs training. One thread drives it; it may be
/// destroyed between any two calls.
class Draft {
  public:
    /// Completes and validates the recipe. `corpora` are shared with other runs; null: its own. Throws
    /// InputError where it cannot be built, also for lack of memory on `device`.
    Draft(Recipe recipe, int threads, Corpora* corpora = nullptr, Device& device = cpu_device());

    std::int64_t steps() const { return steps_; }
    std::int64_t steps_done() const { return static_cast<std::int64_t>(first_.loss.size()); }
    /// All steps are done, or the run diverged.
    bool ended() const { return steps_done() >= steps_ || experiment_->ended(); }
    /// One step; must not be called at the end.
    void advance(ThreadPool& pool);
    const FirstSteps& first() const { return first_; }
    /// Running, where the run would have continued.
    const Outcome& outcome() const { return experiment_->outcome(); }

  private:
    std::int64_t steps_;
    std::unique_ptr<Experiment> experiment_;
    FirstSteps first_;
};

/// The failed run's own first steps, over which a draft gains: bit for bit the draft of its recipe,
/// unchanged. (Where a hot knob was moved, the drafts begin with the value it was moved to, the run did not.)
struct DraftControl {
    enum class Kind {
        Failing,  ///< its loss or its gradient was out of bounds within the steps of its own draft
        Slow,     ///< within bounds to its end, which is above the unigram entropy or within its draft
        Later     ///< within bounds in its draft; it collapsed, diverged, lost its gradient or stayed at the
                  ///< unigram entropy later
    };
    FirstSteps first;        ///< at least as many as a draft has, where the run has them
    double ln_vocab = kNaN;  ///< loss of the uniform distribution, nat; NaN where unknown
    Kind kind = Kind::Failing;
    /// Loss of the best model that ignores its input, nat; NaN where unknown.
    double unigram_entropy = kNaN;

    /// Whether there is something to fall to in so few steps: token frequencies, which every stack that
    /// learns finds first. Where they give no more than a uniform guess (copying), the loss of a draft shows
    /// nothing.
    bool loss_can_fall() const;
};
/// "failing", "slow", "later".
const char* control_word(DraftControl::Kind kind);
/// `count`: the steps of the longest draft. The run has failed (has_failed).
DraftControl control_of(const RunData& run, std::int64_t count);

/// What a draft shows at its end, and whether that is enough to try the whole run.
struct DraftResult {
    FirstSteps first;
    double loss = 0;           ///< mean of the draft's last 4 steps, nat; not finite where one of them is not
    double gradient = 0;       ///< median of the same steps
    double gain = 0;           ///< nat over the control (see evaluate_draft); NaN without a loss
    double error = 0;          ///< its standard error from the scatter of these 4 steps
    bool by_gradient = false;  ///< the gradient alone decided: DraftControl::loss_can_fall() is false
    bool enough = false;
    std::string why_not;  ///< one reason in a few words where it is not enough: "gradient 0.00056"
};

/// The judgement on a draft. Enough needs two things.
///
/// It is sound: it did not diverge, its loss is below the first one + 1 nat (the bound of Verdict), at most
/// half of its updates overflowed, and the gradient that arrives at layer 1 is between 0.01 and 100 of that
/// of the last layer (the bounds of Verdict).
///
/// It gained: more than 0.05 nat (the standard deviation of a batch's loss in the default recipe is 0.04 to
/// 0.07) and more than two standard errors. The gain is the smaller of
///   what it fell    from its first loss, or from that of the uniform distribution where it began above it (a
///                   first loss above it is a bad start, and to lose it is not to learn), to its last 4
///                   steps; at least 0;
///   what it leads   the control's loss minus its own in the same 4 steps, batch by batch. Of a Slow control:
///                   by how much more than the control it fell in these steps, each from its own first loss.
///                   Without a limit where the control has no finite loss there.
/// So the unchanged recipe gains 0, and another initialisation gains nothing by where it starts, at most what
/// it fell. Levels are compared where the control fails, since it may fall far, from a bad start to the
/// unigram entropy, and learn nothing.
///
/// Of a control that fails Later the draft ends before that: it shows no more than that the change learns as
/// well. So there what it leads need only not be below zero by as much; what it fell is required as
/// elsewhere.
///
/// Where the loss cannot fall in so few steps (DraftControl::loss_can_fall) the gradient alone decides: the
/// draft is sound, and does not end clearly above the control.
///
/// How often the whole run then learns is measured in tests/findings/DRAFTS.md; it is no promise, and gains
/// do not rank: a longer draft, over a warm-up, has longer to gain.
DraftResult evaluate_draft(FirstSteps first, const Outcome& outcome, const DraftControl& control);
/// A draft that could not be built or run, with the reason.
DraftResult infeasible_draft(std::string why);

/// All of it in one call. `cancel` is checked between steps: throws Cancelled.
DraftResult draft(const Recipe& recipe, const DraftControl& control, ThreadPool& pool,
                  Corpora* corpora = nullptr, Device& device = cpu_device(),
                  const std::atomic<bool>* cancel = nullptr);

}  // namespace normscope
