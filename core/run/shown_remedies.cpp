// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/shown_remedies.h"

#include "core/base/assert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope {

std::vector<std::size_t> shown_remedies(const std::vector<Remedy>& remedies,
                                        const std::vector<std::optional<DraftResult>>& drafts) {
    NORMSCOPE_ASSERT(remedies.size() == drafts.size(), "a draft, or none yet, for each remedy");
    std::vector<std::size_t> by_gain;
    for (std::size_t i = 0; i < drafts.size(); ++i)
        if (drafts[i] && drafts[i]->enough) by_gain.push_back(i);
    std::stable_sort(by_gain.begin(), by_gain.end(), [&](std::size_t a, std::size_t b) {
        const DraftResult &one = *drafts[a], &other = *drafts[b];
        if (one.by_gradient && other.by_gradient)
            return std::abs(std::log(one.gradient)) < std::abs(std::log(other.gradient));
        return one.gain > other.gain;
    });
    // To the front the first of each kind; by the gradient, all but those of the training.
    std::set<RemedyKind> kinds;
    std::vector<std::size_t> shown, others;
    for (const std::size_t i : by_gain) {
        const bool front = drafts[i]->by_gradient ? remedies[i].kind != RemedyKind::Training
                                                  : kinds.insert(remedies[i].kind).second;
        (front ? shown : others).push_back(i);
    }
    shown.insert(shown.end(), others.begin(), others.end());
    if (shown.size() > kShownRemedies) shown.resize(kShownRemedies);
    std::sort(shown.begin(), shown.end());
    return shown;
}

}  // namespace normscope
