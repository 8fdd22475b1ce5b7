// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/counter_rng.h"
#include "core/model/transformer.h"

#include <functional>

namespace normscope {

/// A map of the tokens of one sequence as products with K directions in device memory: tangent [K, n, d] is
/// replaced by its image, gradient [K, n, d] by that of the transpose.
template <class T>
struct TokenMap {
    std::function<void(int directions, T*tangent)> apply, apply_transpose;
    bool token_by_token = false;  ///< no token of the image depends on another one
};

/// ∂h_end/∂h_begin of the sub-layers begin … end − 1 of one sequence, the derivative of the forward map. The
/// model and the tape must outlive it.
template <class T>
TokenMap<T> sublayer_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end);

/// ∂f/∂u of one sub-layer's f (attention or the feed-forward map) alone, without norms, shortcut and factors,
/// at the u of the tape. `angles`: Pass::angles of the stack (rope_table.h), empty without rotary positions;
/// it must outlive the map too.
template <class T>
TokenMap<T> branch_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int sublayer,
                       const Buffer<T>& angles);

struct SearchEffort {
    int starts = 4;     ///< ascents that are carried to their end
    int sweeps = 6;     ///< of an ascent, a JVP and a VJP each
    int tokens = 1024;  ///< output tokens that are tried, evenly spread, with the last one; at most all
};

/// The largest ratio max_i ‖(Jv)_i‖₂ / max_j ‖v_j‖₂ found over tokens i, j: a lower bound of the operator
/// norm in the block-∞/RMS geometry. The norm is the largest over output tokens i of that of the map to
/// token i alone, and an ascent does not leave its token: one starts at every token that is tried, from a
/// random direction e_i there (counter-based, by `key`); after every second sweep the half with the longer
/// images continues, down to `starts`. A sweep of the ascent (the nonlinear power method of Boyd 1974):
/// v_j ← (Jᵀe_i)_j/‖(Jᵀe_i)_j‖ with e_i the image's direction at i, which never lowers the ratio. Of a map
/// that acts token by token each direction carries an ascent at every token, four times as long. It may end
/// in a local maximum: of 96 maps of default stacks one was 13 % below that of other directions, the rest at
/// most 4 %. Every ratio compared is that of a product that was made, at any token of its image. NaN where a
/// product is not finite; 0 for a map of zeros. May be called from the threads of a pool; uses the scratch
/// slot kJacobianRows.
template <class T>
double largest_token_gain(Device& device, int tokens, int width, const TokenMap<T>& map,
                          const SearchEffort& effort, NormalKey key);

}  // namespace normscope
