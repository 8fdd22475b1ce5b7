// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/held_out_loss.h"

#include "core/train/trainer.h"

#include <cmath>

namespace normscope {

std::string HeldOutLoss::of_text() const {
    return sequences > 0 ? "mean of " + std::to_string(sequences) + " held-out sequences"
                         : "mean of the held-out sequences";
}

std::optional<HeldOutLoss> held_out_loss(const RunData& run, std::int64_t step) {
    const std::vector<double>* losses = run.steps.find("val_loss");
    if (!losses || run.unread) return std::nullopt;
    // Earlier versions had neither this column nor this number of sequences.
    const std::vector<double>* errors = run.steps.find("val_loss_error");
    for (std::size_t i = losses->size(); i-- > 0;) {
        if (run.steps.step[i] > step || std::isnan((*losses)[i])) continue;
        return HeldOutLoss{(*losses)[i], errors ? (*errors)[i] : std::nan(""), errors ? kHeldOutSequences : 0,
                           run.steps.step[i]};
    }
    return std::nullopt;
}

}  // namespace normscope
