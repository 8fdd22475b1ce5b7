// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/newton_schulz.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// `to` [columns, rows] = `from` [rows, columns] transposed.
template <class T>
void transpose(int rows, int columns, const std::vector<T>& from, std::vector<T>& to) {
    to.resize(from.size());
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            to[static_cast<std::size_t>(c) * rows + r] = from[static_cast<std::size_t>(r) * columns + c];
}

}  // namespace

template <class T>
void orthogonalise(int rows, int columns, std::vector<T>& matrix) {
    thread_local std::vector<T> transposed, gram, polynomial, product;
    const bool tall = rows > columns;
    std::vector<T>& x = tall ? transposed : matrix;
    if (tall) transpose(rows, columns, matrix, x);
    const int m = std::min(rows, columns), n = std::max(rows, columns);
    const auto square = static_cast<std::size_t>(m) * static_cast<std::size_t>(m);
    gram.resize(square);
    polynomial.resize(square);
    product.resize(x.size());

    const auto& k = row_kernels<T>();
    double squares = 0;
    for (T v : x) squares += static_cast<double>(v) * static_cast<double>(v);
    k.scale(x.size(), static_cast<T>(1 / (std::sqrt(squares) + Muon::tiny)), x.data(), x.data());
    for (int round = 0; round < Muon::rounds; ++round) {
        matmul_nt<T>(m, m, n, 1, x.data(), n, x.data(), n, 0, gram.data(), m);
        polynomial = gram;
        matmul_nn<T>(m, m, m, static_cast<T>(Muon::c), gram.data(), m, gram.data(), m,
                     static_cast<T>(Muon::b), polynomial.data(), m);
        product = x;
        matmul_nn<T>(m, n, m, 1, polynomial.data(), m, x.data(), n, static_cast<T>(Muon::a), product.data(),
                     n);
        std::swap(x, product);
    }
    if (tall) transpose(columns, rows, x, matrix);
}
template void orthogonalise<float>(int, int, std::vector<float>&);
template void orthogonalise<double>(int, int, std::vector<double>&);

}  // namespace normscope
