// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/updates.h"
#include "core/train/trainer.h"

#include <chrono>
#include <functional>
#include <vector>

namespace normscope {

/// The id of the probe that measures a step's update rather than the weights before it.
inline constexpr const char* kUpdatesProbe = "updates";

/// Labels a sample of `updates` with the training batch, unlike those of the other probes.
inline void stamp_training_batch(ProbeResult& result) {
    if (result.probe == kUpdatesProbe) result.labels["sampled"] = {"training batch"};
}

/// The sample of a step without an update.
template <class T>
ProbeResult skipped_update(const Trainer<T>& trainer, std::int64_t step) {
    ProbeResult result = updates_result(no_update(trainer.model().table()));
    result.step = step;
    stamp_training_batch(result);
    return result;
}

/// One step of training, with the probe `updates` measured on the update that it makes: a copy of the weights
/// and two sums, no pass, of the groups that are selected. `done` is called with the sample, but in a rank
/// that only takes part (Trainer::has_state).
template <class T>
StepNumbers watched_step(Trainer<T>& trainer, ThreadPool& pool, const PlaceSelection& only,
                         const std::function<void(ProbeResult)>& done) {
    using Clock = std::chrono::steady_clock;
    const std::int64_t step = trainer.steps_done();
    const auto updates = [&](const StepNumbers& now) {
        return !now.overflowed && trainer.steps_done() > step;
    };
    if (!trainer.has_state()) {
        const StepNumbers now = trainer.step(pool);
        if (updates(now)) trainer.collect_state();
        return now;
    }
    const auto start = Clock::now();
    const HostView<T> weights = trainer.trained_weights();
    const std::vector<T> before(weights.begin(), weights.end());
    const auto copied = Clock::now();
    const StepNumbers now = trainer.step(pool);
    const auto stepped = Clock::now();
    ProbeResult result = skipped_update(trainer, step);
    if (updates(now)) {
        trainer.collect_state();
        const auto moments = trainer.second_moments();
        result = updates_result(update_norms<T>(trainer.model().table(), before, trainer.trained_weights(),
                                                moments ? &*moments : nullptr, only));
        result.step = step;
        stamp_training_batch(result);
    }
    result.cost_ms =
        std::chrono::duration<double, std::milli>(copied - start + (Clock::now() - stepped)).count();
    done(std::move(result));
    return now;
}

}  // namespace normscope
