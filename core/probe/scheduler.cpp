// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/scheduler.h"

namespace normscope {

bool ProbeScheduler::due(const std::string& id, int every, std::int64_t step, std::int64_t last_step) const {
    if (step == 0 || step == last_step) return true;
    if (every > 0) return step % every == 0;
    const auto cost = cost_.find(id);
    double next = cost == cost_.end() ? 0 : cost->second;
    // What step 0 cost says little: cold caches and first allocations would keep a cheap probe waiting for half the
    // run. So it is measured again at once, unless it took as long as many steps.
    constexpr double kManySteps = 10;
    if (step == 1 && next <= kManySteps * training_) next = 0;
    // Each probe gets its own equal share, so that a dear one can not starve and a cheap one need not wait for it.
    const auto taken = taken_.find(id);
    const double own = next * (taken == taken_.end() ? 0 : taken->second) + next;
    const double share = cost_.empty() ? budget_ : budget_ / static_cast<double>(cost_.size());
    return own <= share * training_;
}

void ProbeScheduler::spent_probe(const std::string& id, double seconds, int every) {
    probes_ += seconds;
    cost_[id] = seconds;
    if (every == 0 && training_ > 0) ++taken_[id];  // what step 0 needs is not charged to the budget
}

}  // namespace normscope
