// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/matrix_norms.h"

#include "core/backend/cpu/linear_algebra/block_lanczos.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/linear_algebra/svd.h"
#include "core/base/nan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace normscope {

namespace {

constexpr double kRoundOff = std::numeric_limits<double>::epsilon();

/// ‖W‖₂ of a dense [rows, columns] matrix from the largest eigenvalue of WᵀW or WWᵀ.
MatrixNorms dense_norm(int rows, int columns, const std::vector<double>& w) {
    const int m = std::min(rows, columns);
    const auto size = static_cast<std::size_t>(m);
    std::vector<double> gram(size * size), eigenvalues(size);
    if (rows <= columns)
        matmul_nt<double>(m, m, columns, 1, w.data(), columns, w.data(), columns, 0, gram.data(), m);
    else
        matmul_tn<double>(m, m, rows, 1, w.data(), columns, w.data(), columns, 0, gram.data(), m);
    symmetric_eigenvalues(m, gram.data(), eigenvalues.data());
    MatrixNorms norms;
    norms.spectral = std::sqrt(std::max(0.0, eigenvalues.back()));
    norms.spectral_error = (rows + columns) * kRoundOff * norms.spectral;
    return norms;
}

/// The same from products with WᵀW or WWᵀ, whichever is smaller: its largest value is ‖W‖₂².
MatrixNorms searched_norm(int rows, int columns, const std::vector<double>& w,
                          const std::function<void()>& check) {
    const bool wide = rows <= columns;
    std::vector<double> between;
    const auto product = [&](int count, const double* in, double* out) {
        between.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(std::max(rows, columns)));
        if (wide) {
            matmul_nn<double>(count, columns, rows, 1, in, rows, w.data(), columns, 0, between.data(),
                              columns);
            matmul_nt<double>(count, rows, columns, 1, between.data(), columns, w.data(), columns, 0, out,
                              rows);
        } else {
            matmul_nt<double>(count, rows, columns, 1, in, columns, w.data(), columns, 0, between.data(),
                              rows);
            matmul_nn<double>(count, columns, rows, 1, between.data(), rows, w.data(), columns, 0, out,
                              columns);
        }
    };
    SpectrumOptions options;
    options.count = 4;
    options.tolerance = 1e-8;
    options.check = check;
    ThreadPool pool(1);
    const Spectrum found = block_lanczos({std::min(rows, columns), product, product, 0}, options, pool);
    MatrixNorms norms;
    norms.spectral = std::sqrt(found.top.front());
    norms.spectral_error = std::sqrt(found.top.front() + found.top_error.front()) - norms.spectral +
                           (rows + columns) * kRoundOff * norms.spectral;
    return norms;
}

}  // namespace

double MatrixNorms::stable_rank() const {
    return spectral > 0 ? frobenius * frobenius / (spectral * spectral) : kNaN;
}

template <class T>
MatrixNorms matrix_norms(int rows, int columns, const T* matrix, int ld, const std::function<void()>& check) {
    std::vector<double> w;
    w.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    double largest = 0;
    for (int r = 0; r < rows; ++r, matrix += ld)
        for (int c = 0; c < columns; ++c) {
            w.push_back(static_cast<double>(matrix[c]));
            if (!std::isfinite(w.back())) return {kNaN, kNaN, kNaN};
            largest = std::max(largest, std::abs(w.back()));
        }
    if (largest == 0) return {};
    double squares = 0;  // scaled: no square over- or underflows
    for (double& v : w) {
        v /= largest;
        squares += v * v;
    }
    MatrixNorms norms = std::min(rows, columns) <= kDenseNormWidth ? dense_norm(rows, columns, w)
                                                                   : searched_norm(rows, columns, w, check);
    norms.frobenius = largest * std::sqrt(squares);
    norms.spectral *= largest;
    norms.spectral_error *= largest;
    return norms;
}
template MatrixNorms matrix_norms<float>(int, int, const float*, int, const std::function<void()>&);
template MatrixNorms matrix_norms<double>(int, int, const double*, int, const std::function<void()>&);

}  // namespace normscope
