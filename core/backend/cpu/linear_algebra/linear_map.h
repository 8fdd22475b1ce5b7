// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace normscope {

/// A square matrix known only through its products with vectors, such as the Jacobian of a whole sequence.
/// `in` and `out` hold `count` vectors of `size` entries, one per row, and do not overlap. Both functions are
/// called from one thread and may use a pool themselves; the same input must give the same bits.
struct LinearMap {
    using Product = std::function<void(int count, const double* in, double* out)>;
    int size = 0;
    Product apply;            ///< out = J·in, vector by vector
    Product apply_transpose;  ///< out = Jᵀ·in
    double precision = 0;     ///< round-off of a product relative to ‖J‖₂, beyond float64's
};

}  // namespace normscope
