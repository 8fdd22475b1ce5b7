// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace normscope::widgets {

/// Where a run was forked, by its last event of that kind.
struct ForkOrigin {
    std::int64_t last_shared = -1;  ///< the last step that it has from its parent
    QString text;                   ///< "fork of Post-LN at step 40"
    bool parent_drawn = false;      ///< another of the runs has the steps before the fork, to the bit
};

/// Of each run; nullopt: not a fork. Where two forks have the same steps before, one of them draws these.
/// Steps are compared in `column`.
std::vector<std::optional<ForkOrigin>> forkOrigins(const std::vector<const RunData*>& runs,
                                                   const std::string& column);

}  // namespace normscope::widgets
