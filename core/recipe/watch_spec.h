// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"

#include <string>
#include <vector>

namespace normscope {

/// What a watchpoint compares. All but the last are of the training step and measured at every step.
enum class WatchQuantity {
    GradNorm,   ///< of the whole gradient, before clipping
    GradRatio,  ///< ‖∂L/∂h‖ after layer 1 over that after the last (gradient_ratio.h)
    Loss,       ///< nat
    HiddenRms,  ///< of every hidden state, on the training batch; any of them triggers
    NonFinite,  ///< 1 where the loss, the gradient norm or a hidden state is not finite, else 0
    Entropy,    ///< of every head, as the probe `attention` samples it (of a row ÷ ln of its length)
};
enum class WatchComparator { Above, Below };

/// One watchpoint of a recipe: a condition on a run in training. It observes and changes nothing of a run.
struct WatchSpec {
    WatchQuantity quantity = WatchQuantity::GradNorm;
    WatchComparator is = WatchComparator::Above;
    double value = 0;
    bool operator==(const WatchSpec&) const = default;
};

/// The keys of one entry of a recipe's list `watch`: quantity, is, value.
void list_fields(Fields& fields, WatchSpec& spec);

/// "grad_norm > 100"
std::string watch_text(const WatchSpec& spec);
/// "grad_norm > 100; grad_ratio < 0.01", or "nothing".
std::string watch_text(const std::vector<WatchSpec>& watch);
/// What watch_text() writes, with or without spaces; "non_finite" alone is "non_finite > 0". InputError names
/// what is not known and what is allowed; `where` begins the message.
WatchSpec parse_watch(const std::string& text, const std::string& where);

}  // namespace normscope
