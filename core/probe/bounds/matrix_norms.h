// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace normscope {

/// ‖W‖_F and ‖W‖₂ of a weight matrix. The true ‖W‖₂ lies within spectral ± spectral_error.
struct MatrixNorms {
    double frobenius = 0, spectral = 0, spectral_error = 0;

    double upper() const { return spectral + spectral_error; }
    /// ‖W‖_F²/‖W‖₂², from 1 to the rank; NaN for a matrix of zeros.
    double stable_rank() const;
};

/// Up to this many rows or columns, whichever are fewer, the eigenvalues of the Gram matrix give ‖W‖₂ to
/// float64 round-off; a larger matrix is left to block_lanczos with a relative error below 1e-7.
inline constexpr int kDenseNormWidth = 192;

/// A row-major [rows, columns] matrix whose rows are ld apart, in float64 for any T; NaN where an entry is
/// not finite. One thread. `check` is called between products and may throw.
template <class T>
MatrixNorms matrix_norms(int rows, int columns, const T* matrix, int ld,
                         const std::function<void()>& check = {});

}  // namespace normscope
