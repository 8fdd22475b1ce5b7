// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/assert.h"
#include "core/train/trainer.h"

#include <utility>

namespace normscope {

template <class T>
UpdateNorms Trainer<T>::trial_update(ThreadPool& pool) {
    NORMSCOPE_ASSERT(!parts_, "a rank with a part of the optimizer's state cannot make an update alone");
    const TrainerState<T> before = save();
    const Outcome outcome = outcome_;
    const auto validate_every =
        std::exchange(train_.validate_every, 0);  // held-out losses do not affect an update
    const StepNumbers made = [&] {
        struct Alone {  // other ranks do not try it
            std::unique_ptr<RankGradients<T>>& ranks;
            std::unique_ptr<RankGradients<T>> kept = std::move(ranks);
            ~Alone() { ranks = std::move(kept); }
        } alone{ranks_};
        return step(pool);
    }();
    const bool moved = !made.overflowed && step_ > before.step;
    const HostView<T> moved_weights = trained_weights();
    const std::vector<T> after(moved_weights.begin(), moved_weights.end());
    train_.validate_every = validate_every;
    const std::optional<SecondMoments<T>> moments = second_moments();
    restore(before);
    outcome_ = outcome;
    return moved ? update_norms<T>(model_.table(), before.parameters, after, moments ? &*moments : nullptr)
                 : no_update(model_.table());
}

template <class T>
std::optional<SecondMoments<T>> Trainer<T>::second_moments() const {
    if (!divides_by_size(train_.optimizer.kind) || updates_ == 0) return std::nullopt;
    const double root_correction = optimizer_numbers(rule_, 0, 0, updates_).root_correction2;
    Moments<T> all = moments();
    return SecondMoments<T>{std::move(all.first), std::move(all.second), root_correction, rule_.eps,
                            train_.optimizer.kind};
}

template UpdateNorms Trainer<float>::trial_update(ThreadPool&);
template UpdateNorms Trainer<double>::trial_update(ThreadPool&);

}  // namespace normscope
