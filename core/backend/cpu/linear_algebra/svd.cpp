// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/svd.h"

#include "core/base/error.h"

#include <lapacke.h>

#include <string>
#include <vector>

namespace normscope {

void singular_decomposition(int n, const double* matrix, double* values, double* left, double* right) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> copy(matrix, matrix + size * size);  // the routine destroys its input
    // Row-major A is column-major Aᵀ = Σ σ·rightᵀ·left: its U holds the right vectors column by column, which
    // is row by row in row-major order; its Vᵀ holds the left vectors as columns.
    std::vector<double> vt(size * size);
    const int info =
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', n, n, copy.data(), n, values, right, n, vt.data(), n);
    if (info != 0)
        throw SystemError("singular values: the iteration did not converge (dgesdd " + std::to_string(info) +
                          ")");
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) left[i * size + j] = vt[j * size + i];
}

void symmetric_eigenvalues(int n, double* matrix, double* values) {
    const int info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', n, matrix, n, values);
    if (info != 0)
        throw SystemError("eigenvalues: the iteration did not converge (dsyev " + std::to_string(info) + ")");
}

}  // namespace normscope
