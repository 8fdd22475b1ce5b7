// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/arena_piece.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace normscope {

/// The length of one call of a reduction: about what stays in a core's cache.
inline constexpr std::size_t kArenaPiece = 1 << 14;

/// `count` values from `offset` on, appended in pieces of that length.
inline void add_pieces(std::size_t offset, std::size_t count, std::vector<ArenaPiece>& to) {
    for (std::size_t at = 0; at < count; at += kArenaPiece)
        to.push_back({offset + at, std::min(kArenaPiece, count - at), false});
}

/// The pieces in which Transformer::sum_shards() adds an arena of so many values.
inline std::vector<ArenaPiece> arena_pieces(std::size_t size) {
    std::vector<ArenaPiece> pieces;
    add_pieces(0, size, pieces);
    return pieces;
}

}  // namespace normscope
