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
    int starts = 4;  ///< random directions
    int sweeps = 6;  ///< of the ascent, a JVP and a VJP each
};

/// The largest ratio max_i ‖(Jv)_i‖₂ / max_j ‖v_j‖₂ found over tokens i, j: a lower bound of the operator
/// norm in the block-∞/RMS geometry. From random directions (counter-based, by `key`), an ascent in that norm
/// (the nonlinear power method of Boyd 1974): the token i of the longest image, v_j ← (Jᵀe_i)_j/‖(Jᵀe_i)_j‖
/// with e_i the image's direction at i, which never lowers the ratio. Every ratio compared is that of a
/// product that was made. NaN where a product is not finite; 0 for a map of zeros. May be called from the
/// threads of a pool; uses the scratch slot kJacobianRows.
template <class T>
double largest_token_gain(Device& device, int tokens, int width, const TokenMap<T>& map,
                          const SearchEffort& effort, NormalKey key);

}  // namespace normscope
