// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace normscope {

/// A contiguous range of the parameters, within one tensor, for an optimizer or a reduction.
struct ArenaPiece {
    std::size_t offset, count;
    bool decays;
};

}  // namespace normscope
