// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/tape.h"

#include <cstddef>
#include <vector>

namespace normscope {

/// [sequences] mean loss of each in nat, of a tape whose batch had targets, as many in every sequence.
template <class T>
std::vector<double> sequence_losses(const Tape<T>& tape) {
    const auto n = static_cast<std::size_t>(tape.length);
    const HostView<T> losses = tape.view(tape.losses, static_cast<std::size_t>(tape.rows()));
    const double each =
        static_cast<double>(tape.counted) / tape.sequences;  // a whole number: rows with a loss
    std::vector<double> of_sequence;
    for (std::size_t b = 0; b < static_cast<std::size_t>(tape.sequences); ++b)
        of_sequence.push_back(sum(losses.data() + b * n, n) / each);
    return of_sequence;
}

}  // namespace normscope
