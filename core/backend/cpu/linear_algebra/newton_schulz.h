// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace normscope {

/// Muon's constants: the quintic iteration X ← aX + (bA + cA²)X with A = XXᵀ has its greatest slope at 0 for
/// these, so five rounds bring every singular value of a matrix of norm 1 that is not tiny to about 0.68
/// … 1.14.
struct Muon {
    static constexpr double momentum = 0.95, a = 3.4445, b = -4.7750, c = 2.0315, tiny = 1e-7;
    static constexpr int rounds = 5;
};

/// Replaces a row-major [rows, columns] matrix by the result of Muon's Newton–Schulz iteration: about U·Vᵀ of
/// its singular value decomposition. A zero matrix stays zero.
template <class T>
void orthogonalise(int rows, int columns, std::vector<T>& matrix);

}  // namespace normscope
