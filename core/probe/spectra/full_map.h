// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/model/transformer.h"

#include <functional>
#include <span>
#include <vector>

namespace normscope {

/// The most directions that full_map_ends() applies to the map, and as many to its transpose.
inline constexpr int kFullMapProducts = 12;
/// A feed-forward map over fewer tokens than this is searched as attention is: that is cheaper than a
/// decomposition of every token's block, and its smallest value then has a bar down to 0.
inline constexpr int kMinTokenBlocks = 8;

/// The largest and the smallest singular value of a map; the true value lies within value ± error.
struct MapEnds {
    double top, top_error, bottom, bottom_error;
};

/// Ends of the Jacobian of the sub-layers begin … end − 1 over the whole sequence of the tape, [n·d, n·d],
/// backprop sense.
///
/// Explicit (`dense`): exact to round-off. A feed-forward sub-layer acts token by token: exact from its
/// blocks, if narrow. Otherwise the top comes from a few steps of block Lanczos, its bar from the residual
/// (block_lanczos.h), not sharpened, since the search stops early. The bottom:
///   `exact_nulls` of any token's block (null_count.h) make it 0, without error, independent of how the top
///   was found; else, in a causal stack, the block of the last token bounds it from above, because that token
///   acts on none but itself: J(0, …, 0, x) = (0, …, 0, J_nn·x), and so does every Ritz value; no product
///   bounds it from below, so the bar reaches down to 0. `last_block_smallest`: σ_min of that block, NaN
///   where the stack is not causal.
/// The bars are those of the Jacobian at the tape's states.
MapEnds full_map_ends(const Transformer<double>& model, const Tape<double>& tape, int begin, int end,
                      bool dense, bool exact_nulls, double last_block_smallest, ThreadPool& pool,
                      const std::function<void()>& check);

}  // namespace normscope
