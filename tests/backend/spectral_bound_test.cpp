// SPDX-License-Identifier: GPL-3.0-or-later
// Upper bounds of largest singular values against those of LAPACK.
#include "core/backend/cpu/linear_algebra/spectral_bound.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace normscope;

namespace {

double largest_singular_value(int rows, int columns, const std::vector<double>& matrix) {
    std::vector<double> values(static_cast<std::size_t>(std::min(rows, columns)));
    singular_values(rows, columns, matrix.data(), values.data());
    return values[0];
}

int pieces(int side) {
    return (side + kSpectralBoundWidth - 1) / kSpectralBoundWidth;
}

}  // namespace

class SpectralBoundTest : public QObject {
    Q_OBJECT

    std::mt19937 generator_{5};

    /// Of rank `rank`, so that one direction may carry everything, or none more than another.
    template <class T>
    std::vector<T> matrix(int rows, int columns, int rank, double size = 1) {
        std::normal_distribution<double> normal;
        std::vector<double> left(static_cast<std::size_t>(rows * rank)),
            right(static_cast<std::size_t>(rank * columns));
        for (double& v : left) v = size * normal(generator_);
        for (double& v : right) v = normal(generator_);
        std::vector<double> product(static_cast<std::size_t>(rows * columns));
        matmul_nn<double>(rows, columns, rank, 1, left.data(), rank, right.data(), columns, 0, product.data(),
                          columns);
        return {product.begin(), product.end()};
    }

    template <class T>
    void check(double slack) {
        for (auto [rows, columns] :
             {std::pair(1, 1), {3, 7}, {64, 256}, {256, 64}, {130, 65}, {65, 300}, {200, 200}})
            for (int rank : {1, 2, 40, 200}) {
                const auto W = matrix<T>(rows, columns, rank);
                const double exact = largest_singular_value(rows, columns, {W.begin(), W.end()});
                const double bound = spectral_norm_bound<T>(rows, columns, W.data(), columns);
                const int shorter = std::min(rows, columns), width = std::min(shorter, kSpectralBoundWidth);
                QVERIFY2(bound >= exact * (1 - slack),
                         qPrintable(QString("%1 %2: %3 < %4").arg(rows).arg(columns).arg(bound).arg(exact)));
                QVERIFY(bound <=
                        exact * std::sqrt(pieces(shorter)) * std::pow(width, 1.0 / 32) * (1 + slack));
                if (rank == 1) QVERIFY(std::abs(bound / exact - 1) < 1e-4);  // one direction: nothing is lost
            }
        for (auto [rows, inner, columns] :
             {std::array{1, 1, 1}, {64, 16, 64}, {48, 12, 48}, {100, 70, 90}, {40, 130, 50}})
            for (int rank : {1, 3, 100}) {
                const auto L = matrix<T>(rows, inner, rank), R = matrix<T>(inner, columns, rank);
                std::vector<double> product(static_cast<std::size_t>(rows * columns));
                const std::vector<double> left(L.begin(), L.end()), right(R.begin(), R.end());
                matmul_nn<double>(rows, columns, inner, 1, left.data(), inner, right.data(), columns, 0,
                                  product.data(), columns);
                const double exact = largest_singular_value(rows, columns, product);
                const double bound =
                    product_norm_bound<T>(rows, inner, columns, L.data(), inner, R.data(), columns);
                QVERIFY2(bound >= exact * (1 - slack), qPrintable(QString("%1 < %2").arg(bound).arg(exact)));
                // Pieces of a product may cancel where the whole does not show it: no factor bounds that.
                if (inner <= kSpectralBoundWidth)
                    QVERIFY(bound <= exact * std::pow(inner, 1.0 / 32) * (1 + (rank == 1 ? 0.05 : 1e-3)));
            }
    }

  private Q_SLOTS:
    void boundsHold64() { check<double>(1e-12); }
    void boundsHold32() { check<float>(1e-5); }

    /// A part of a matrix by its leading dimension, and a product that nearly vanishes: never below the
    /// value.
    void partsAndCancellation() {
        const int d = 40, n = 16;
        const auto whole = matrix<float>(d, d, d);
        std::vector<double> part;
        for (int i = 0; i < d; ++i)
            part.insert(part.end(), whole.begin() + i * d + 8, whole.begin() + i * d + 8 + n);
        const double exact = largest_singular_value(d, n, part);
        const double found = spectral_norm_bound<float>(d, n, whole.data() + 8, d);
        QVERIFY(found >= exact * (1 - 1e-6) && found < 1.1 * exact);

        // The columns of L span the complement of the rows of R, up to a thousandth.
        std::vector<float> L(d * 2, 0.0F), R(2 * d, 0.0F);
        for (int i = 0; i < d; ++i)
            L[static_cast<std::size_t>(2 * i)] = 1, L[static_cast<std::size_t>(2 * i + 1)] = 1;
        for (int i = 0; i < d; ++i)
            R[static_cast<std::size_t>(i)] = 1.001F, R[static_cast<std::size_t>(d + i)] = -1;
        const double nearly = 0.001 * d, bound = product_norm_bound<float>(d, 2, d, L.data(), 2, R.data(), d);
        QVERIFY2(bound >= nearly * 0.999 && bound < 200 * nearly,
                 qPrintable(QString::number(bound / nearly)));
    }

    void zeroAndWhatIsNotFinite() {
        std::vector<float> W(30 * 20, 0.0F);
        QCOMPARE(spectral_norm_bound<float>(30, 20, W.data(), 20), 0.0);
        QCOMPARE(product_norm_bound<float>(30, 20, 30, W.data(), 20, W.data(), 30), 0.0);
        for (float bad : {NAN, INFINITY, 3e38F}) {  // the last: its square is not finite
            W[77] = bad;
            QVERIFY(!std::isfinite(spectral_norm_bound<float>(30, 20, W.data(), 20)));
            QVERIFY(!std::isfinite(product_norm_bound<float>(30, 20, 30, W.data(), 20, W.data(), 30)));
        }
    }
};

NORMSCOPE_TEST(SpectralBoundTest)
#include "spectral_bound_test.moc"
