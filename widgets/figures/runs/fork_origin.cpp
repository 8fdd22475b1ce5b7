// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/fork_origin.h"

#include <algorithm>
#include <cstring>

namespace normscope::widgets {

namespace {

/// Whether both have the same values, NaN included, at the same steps up to and with `last`.
bool sameUntil(const RunData& a, const RunData& b, const std::string& column, std::int64_t last) {
    const auto *of_a = a.steps.find(column), *of_b = b.steps.find(column);
    if (!of_a || !of_b || a.unread || b.unread) return false;
    const auto rows = [last](const RunData& run) {
        const auto& step = run.steps.step;
        return static_cast<std::size_t>(std::upper_bound(step.begin(), step.end(), last) - step.begin());
    };
    const std::size_t count = rows(a);
    return count > 0 && count == rows(b) &&
           std::equal(a.steps.step.begin(), a.steps.step.begin() + std::ptrdiff_t(count),
                      b.steps.step.begin()) &&
           std::memcmp(of_a->data(), of_b->data(), count * sizeof(double)) == 0;
}

}  // namespace

std::vector<std::optional<ForkOrigin>> forkOrigins(const std::vector<const RunData*>& runs,
                                                   const std::string& column) {
    std::vector<std::optional<ForkOrigin>> origins(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (const RunEvent& event : runs[i]->events)
            if (event.kind == "fork")
                origins[i] = {event.step, "fork " + QString::fromStdString(event.text), false};
    const auto forkedAt = [&](std::size_t i) { return origins[i] ? origins[i]->last_shared : -1; };
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (std::size_t k = 0; origins[i] && !origins[i]->parent_drawn && k < runs.size(); ++k) {
            // Of forks of each other only the earlier one draws what both have.
            const bool before = forkedAt(k) < forkedAt(i) || (forkedAt(k) == forkedAt(i) && k < i);
            origins[i]->parent_drawn =
                before && sameUntil(*runs[i], *runs[k], column, origins[i]->last_shared);
        }
    return origins;
}

}  // namespace normscope::widgets
