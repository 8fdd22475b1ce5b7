// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/tape.h"

#include <algorithm>
#include <cstddef>

namespace normscope {

/// The rows of a tape with a target whose largest logit is the target's: of images, those classified right.
/// Of equal logits the first counts. The tape's batch had targets.
template <class T>
std::int64_t correct_rows(const Tape<T>& tape, int vocab) {
    const auto rows = static_cast<std::size_t>(tape.rows()), V = static_cast<std::size_t>(vocab);
    const HostView<std::int32_t> targets(tape.device(), tape.batch.targets.data(), rows);
    const HostView<T> logits = tape.view(tape.logits, rows * V);
    std::int64_t correct = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        if (targets[r] < 0) continue;
        const T* row = logits.data() + r * V;
        correct += std::max_element(row, row + V) - row == targets[r];
    }
    return correct;
}

}  // namespace normscope
