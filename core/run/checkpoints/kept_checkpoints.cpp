// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/kept_checkpoints.h"

#include "core/run/checkpoints/checkpoint_memory.h"

#include <algorithm>

namespace normscope {

void KeptCheckpoints::add(const RunDelta& delta) {
    for (const RunEvent& event : delta.events)
        if (event.kind == "spike") spikes_.push_back(event.step);
}

void KeptCheckpoints::save(const std::shared_ptr<const Checkpoint>& checkpoint) {
    if (every_ <= 0) return;
    // The last one of a step counts: a knob may have been moved there.
    std::erase_if(stored_, [&](const auto& known) { return known->step >= checkpoint->step; });
    stored_.push_back(checkpoint);
    HeldCheckpoints held{{}, spikes_, keep_};
    for (const auto& known : stored_) held.held.push_back({known->step, bytes_of(*known)});
    auto excess = excess_checkpoints({held});
    std::sort(excess.rbegin(), excess.rend());  // from the back: the places in front stay
    for (const auto& [run, place] : excess)
        stored_.erase(stored_.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace normscope
