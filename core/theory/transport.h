// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/theory/growth_bounds.h"

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// The assignment of rows to columns of a cost matrix [count, count], row-major, of least total cost: the
/// column of each row. Shortest augmenting paths with potentials (Kuhn 1955, Jonker & Volgenant 1987), exact,
/// O(count³). InputError where an entry is not finite or the size is not count².
std::vector<std::size_t> cheapest_assignment(std::size_t count, std::span<const double> cost);

/// The exact W₂ between two empirical distributions of `count` points each, from the squared distances
/// [count, count]: √(min over assignments of the mean). Errors as above.
double wasserstein_2(std::size_t count, std::span<const double> squared_distances);

/// Bounds of W₂ (Frobenius) between two distributions of hidden states through sub-layers with bounded
/// branches, from W₂ of their inputs ([K] Theorem 6, per sub-layer): two branches differ by at most 2r, r =
/// √(nd)·‖γ‖∞ of an output norm (β cancels) or √(nd)·branch_rms, so that W_k = gate·(shortcut·W_{k−1} +
/// 2Δt|b|·r). [K] eq. 14 multiplies the second term by 2^{(p−1)/p} too; by Minkowski's inequality the factor
/// is needless, and Ĉ = 1 for p = 2 where no gate or shortcut scales. Returns sublayers.size() + 1 values.
/// InputError on a negative or non-finite number.
std::vector<double> shift_bounds(double initial, std::size_t tokens, std::size_t width,
                                 std::span<const BoundedSublayer> sublayers);

}  // namespace normscope
