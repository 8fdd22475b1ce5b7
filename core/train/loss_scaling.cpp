// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/loss_scaling.h"

namespace normscope {

void LossScaler::update(bool overflow) {
    if (overflow) {
        state_ = {state_.scale * kBackoff, 0};
    } else if (++state_.good_steps == kInterval) {
        // As GradScaler: a doubling that would leave float32 is skipped.
        state_ = {state_.scale < 0x1p127 ? state_.scale * kGrowth : state_.scale, 0};
    }
}

}  // namespace normscope
