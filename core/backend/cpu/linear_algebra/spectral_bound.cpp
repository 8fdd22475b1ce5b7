// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/spectral_bound.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/nan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

// The sums may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler vectorise them.

namespace normscope {

namespace {

template <class T>
using Square = std::array<T, kSpectralBoundWidth * kSpectralBoundWidth>;

template <class T>
double trace(int n, const T* matrix) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += static_cast<double>(matrix[i * n + i]);
    return sum;
}

/// (tr G^16)^{1/16} >= λ_max of a symmetric, positive semidefinite G [n, n], which is destroyed.
template <class T>
double largest_eigenvalue_bound(int n, Square<T>& G) {
    const double scale = trace(n, G.data());
    if (scale == 0) return 0;
    const T divisor = static_cast<T>(scale);
    if (!std::isfinite(divisor)) return kNaN;
    // Eigenvalues that sum to 1: the largest is at least 1/64, its eighth power far from the underflow of
    // float32.
    const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    Square<T> power;
    T *from = G.data(), *to = power.data();
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) from[i] /= divisor;
    for (int squaring = 0; squaring < 3; ++squaring) {
        matmul_nn<T>(n, n, n, 1, from, n, from, n, 0, to, n);
        std::swap(from, to);
    }
    double squares = 0;  // ‖G^8‖_F² = tr G^16
#pragma omp simd reduction(+ : squares)
    for (std::size_t i = 0; i < count; ++i)
        squares += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    return scale * std::pow(squares, 1.0 / 16);
}

/// G + shift·I = C·Cᵀ with C lower triangular, in place of G; false where a pivot is not positive.
bool cholesky(int n, double shift, Square<double>& G) {
    const auto row = [&](int i) { return G.data() + i * n; };
    const auto dot = [](const double* a, const double* b, int count) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < count; ++k) sum += a[k] * b[k];
        return sum;
    };
    for (int j = 0; j < n; ++j) {
        const double pivot = row(j)[j] + shift - dot(row(j), row(j), j);
        if (!(pivot > 0)) return false;
        row(j)[j] = std::sqrt(pivot);
        for (int i = j + 1; i < n; ++i) row(i)[j] = (row(i)[j] - dot(row(i), row(j), j)) / row(j)[j];
        std::fill(row(j) + j + 1, row(j) + n, 0.0);
    }
    return true;
}

/// λ_max(A·B) of two Gram matrices, as that of Cᵀ·A·C with B = C·Cᵀ. Small: in float64, for any T of the
/// products. Possible rounding of A and B is added to their diagonals.
double largest_eigenvalue_of_product(int n, double round_off, Square<double>& A, Square<double>& B) {
    const double of_a = trace(n, A.data()), of_b = trace(n, B.data());
    if (of_a == 0 || of_b == 0) return 0;
    if (!std::isfinite(of_a) || !std::isfinite(of_b)) return kNaN;
    for (int i = 0; i < n; ++i) A[static_cast<std::size_t>(i * n + i)] += 8 * round_off * of_a;
    Square<double> factor = B;
    if (!cholesky(n, 8 * round_off * of_b, factor)) {
        const double a = largest_eigenvalue_bound(n, A);
        return a * largest_eigenvalue_bound(n, B);
    }
    Square<double> half;
    matmul_nn<double>(n, n, n, 1, A.data(), n, factor.data(), n, 0, half.data(), n);
    matmul_tn<double>(n, n, n, 1, factor.data(), n, half.data(), n, 0, B.data(), n);
    return largest_eigenvalue_bound(n, B);
}

template <class T>
void widen(int n, const Square<T>& from, Square<double>& to) {
    std::transform(from.begin(), from.begin() + n * n, to.begin(),
                   [](T v) { return static_cast<double>(v); });
}

}  // namespace

template <class T>
double spectral_norm_bound(int rows, int columns, const T* matrix, int ld) {
    const int shorter = std::min(rows, columns);
    double sum = 0;
    Square<T> gram;
    for (int first = 0; first < shorter; first += kSpectralBoundWidth) {
        const int n = std::min(kSpectralBoundWidth, shorter - first);
        if (rows < columns) {
            const T* piece = matrix + static_cast<std::size_t>(first) * static_cast<std::size_t>(ld);
            matmul_nt<T>(n, n, columns, 1, piece, ld, piece, ld, 0, gram.data(), n);
        } else {
            matmul_tn<T>(n, n, rows, 1, matrix + first, ld, matrix + first, ld, 0, gram.data(), n);
        }
        sum += largest_eigenvalue_bound(n, gram);
    }
    return std::sqrt(sum);
}
template double spectral_norm_bound<float>(int, int, const float*, int);
template double spectral_norm_bound<double>(int, int, const double*, int);

template <class T>
double product_norm_bound(int rows, int inner, int columns, const T* left, int left_ld, const T* right,
                          int right_ld) {
    double sum = 0;
    Square<T> gram;
    Square<double> of_left, of_right;
    for (int first = 0; first < inner; first += kSpectralBoundWidth) {
        const int n = std::min(kSpectralBoundWidth, inner - first);
        const T* from = right + static_cast<std::size_t>(first) * static_cast<std::size_t>(right_ld);
        matmul_tn<T>(n, n, rows, 1, left + first, left_ld, left + first, left_ld, 0, gram.data(), n);
        widen(n, gram, of_left);
        matmul_nt<T>(n, n, columns, 1, from, right_ld, from, right_ld, 0, gram.data(), n);
        widen(n, gram, of_right);
        sum += std::sqrt(largest_eigenvalue_of_product(
            n, static_cast<double>(std::numeric_limits<T>::epsilon()), of_left, of_right));
    }
    return sum;
}
template double product_norm_bound<float>(int, int, int, const float*, int, const float*, int);
template double product_norm_bound<double>(int, int, int, const double*, int, const double*, int);

}  // namespace normscope
