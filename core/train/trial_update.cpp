// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include <utility>

namespace normscope {

template <class T>
UpdateNorms Trainer<T>::trial_update(ThreadPool& pool) {
    const TrainerState<T> before = save();
    const Outcome outcome = outcome_;
    const auto validate_every =
        std::exchange(train_.validate_every, 0);  // held-out losses do not affect an update
    const StepNumbers made = step(pool);
    const bool moved = !made.overflowed && step_ > before.step;
    const HostView<T> moved_weights = trained_weights();
    const std::vector<T> after(moved_weights.begin(), moved_weights.end());
    train_.validate_every = validate_every;
    restore(before);
    outcome_ = outcome;
    return moved ? update_norms<T>(model_.table(), before.parameters, after) : no_update(model_.table());
}

template UpdateNorms Trainer<float>::trial_update(ThreadPool&);
template UpdateNorms Trainer<double>::trial_update(ThreadPool&);

}  // namespace normscope
