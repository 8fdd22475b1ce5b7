// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace normscope {

/// The data of a pass: tokens and the token that follows each, both [sequences,
/// length], row-major.
struct Batch {
    int sequences = 0, length = 0;
    std::vector<std::int32_t> tokens, targets;
};

}  // namespace normscope
