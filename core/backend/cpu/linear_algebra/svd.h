// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// The singular value decomposition A = Σ_i values[i]·left_iᵀ·right_i of a dense row-major [n, n] matrix,
/// values descending. left and right are [n, n], vector i in row i. Entries must be finite. Throws
/// SystemError when the iteration does not converge.
void singular_decomposition(int n, const double* matrix, double* values, double* left, double* right);

/// The eigenvalues of a symmetric [n, n] matrix, ascending. Entries must be finite; the matrix is destroyed.
/// Throws SystemError when the iteration does not converge.
void symmetric_eigenvalues(int n, double* matrix, double* values);

}  // namespace normscope
