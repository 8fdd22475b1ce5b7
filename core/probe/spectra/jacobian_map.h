// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/cpu/linear_algebra/linear_map.h"
#include "core/model/transformer.h"

#include <cmath>
#include <limits>

namespace normscope {

/// Round-off of a product with the Jacobian of that many sub-layers, relative to its norm: independent errors
/// add up as the root of their number.
template <class T>
double product_precision(int sublayers) {
    return 4 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(sublayers));
}

/// The Jacobian ∂h_end/∂h_begin of the sub-layers begin … end − 1 over one whole sequence, [n·d, n·d], as
/// products: JVP and VJP run in the tape's precision, vectors are float64. The directions are cut into pieces
/// for the pool, by the shape alone, so that a piece holds about 64 tokens (one direction at least): scratch
/// memory is bounded by the passes' buffers over that many rows per thread, for any number of directions. All
/// references must outlive the map. The map's `precision` covers the products, not the rounding of the tape.
template <class T>
LinearMap jacobian_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end,
                       Jacobian kind, ThreadPool& pool);

}  // namespace normscope
