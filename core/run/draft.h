// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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

/// What a draft shows at its end, and whether that is enough to try the whole run.
struct DraftResult {
    FirstSteps first;
    /// Mean of steps 12 to 15, nat, in every draft: a longer one, over a warm-up, would have learned for
    /// longer. Not finite where one of them is not.
    double loss = 0;
    double gradient = 0;  ///< median of the draft's last 4 steps
    bool enough = false;
    std::string why_not;  ///< one reason in a few words where it is not enough: "gradient 0.00056"
};

/// The judgement on a draft. Enough: it did not diverge, its loss is below the first one + 1 nat (the bound
/// of Verdict), at most half of its updates overflowed, and the gradient that arrives at layer 1 is between
/// 0.01 and 100 of that of the last layer (the bounds of Verdict). How often the whole run then learns is
/// measured in tests/findings/DRAFTS.md; it is no promise.
DraftResult evaluate_draft(FirstSteps first, const Outcome& outcome);
/// A draft that could not be built or run, with the reason.
DraftResult infeasible_draft(std::string why);

/// Indices of the drafts that are enough, the lowest loss first (ties in their order).
std::vector<std::size_t> ranked(const std::vector<DraftResult>& drafts);

/// All of it in one call. `cancel` is checked between steps: throws Cancelled.
DraftResult draft(const Recipe& recipe, ThreadPool& pool, Corpora* corpora = nullptr,
                  Device& device = cpu_device(), const std::atomic<bool>* cancel = nullptr);

}  // namespace normscope
