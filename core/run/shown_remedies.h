// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/remedies.h"
#include "core/run/draft.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace normscope {

/// As many remedies are shown.
inline constexpr std::size_t kShownRemedies = 3;

/// Which of the remedies to show, in their order, which is no ranking: of each kind the one whose draft
/// gained most among those that are enough; where a kind has none, of the others the ones that gained most.
/// Where the gradient alone decides (DraftResult::by_gradient), the ones whose gradient changes least from
/// the last layer to the first, of weights and stack before those of the training: a smaller rate only
/// delays, and after as few steps its gradient shows nothing. `drafts`: one for each remedy, nullopt where it
/// is not done. Pure; any thread.
std::vector<std::size_t> shown_remedies(const std::vector<Remedy>& remedies,
                                        const std::vector<std::optional<DraftResult>>& drafts);

}  // namespace normscope
