// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace normscope {

/// A held-out loss of training: the column val_loss of the step table.
struct HeldOutLoss {
    double loss = 0;        ///< nat, mean over the sequences; infinite after a divergence
    double error = 0;       ///< standard error over them; NaN in a recording of an earlier version
    int sequences = 0;      ///< kHeldOutSequences; 0 in a recording of an earlier version, which had others
    std::int64_t step = 0;  ///< at which it was taken

    /// "mean of 64 held-out sequences", "mean of the held-out sequences" where their number is not known.
    std::string of_text() const;
};

/// The newest one at or before a step; nullopt where there is none (validate.every 0, before training, an
/// outline whose steps are not read). Pure; any thread.
std::optional<HeldOutLoss> held_out_loss(const RunData& run,
                                         std::int64_t step = std::numeric_limits<std::int64_t>::max());

}  // namespace normscope
