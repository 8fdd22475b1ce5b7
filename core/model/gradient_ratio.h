// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

/// The one definition of "first/last": ‖∂L/∂h‖_F after layer 1 over that after layer D, L the mean
/// cross-entropy of a batch. `norms` [2D+1] (at least 3): ‖∂L/∂h_k‖_F of every hidden state over all tokens
/// of that batch. The caller chooses the batch: the step table's grad_ratio and the flight recorder use the
/// training batch, the probe `gradients` of the held-out one. NaN or infinite where the last norm is 0 or
/// NaN.
inline double gradient_ratio(std::span<const double> norms) {
    return norms[2] / norms.back();
}

}  // namespace normscope
