// SPDX-License-Identifier: GPL-3.0-or-later
// Singular values from products alone against spectra that are known: diagonal maps, clustered and multiple
// values, maps with a null space, random matrices against LAPACK. Every error bar must hold.
#include "core/backend/cpu/linear_algebra/block_lanczos.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/shared/counter_rng.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace normscope;

namespace {

using Vector = std::vector<double>;

Vector normals(std::size_t count, std::uint64_t seed) {
    Vector x(count);
    fill_normal_row({seed, "test"}, 0, 0, count, 1.0, x.data());
    return x;
}

/// [n, n] row-major; `round` makes its products as inexact as float32 ones.
LinearMap map_of(const Vector& matrix, int n, bool round = false) {
    const auto finish = [round](int count, int size, double* out) {
        for (int i = 0; round && i < count * size; ++i)
            out[i] = static_cast<double>(static_cast<float>(out[i]));
    };
    return {n,
            [=, &matrix](int count, const double* in, double* out) {
                matmul_nt<double>(count, n, n, 1, in, n, matrix.data(), n, 0, out, n);
                finish(count, n, out);
            },
            [=, &matrix](int count, const double* in, double* out) {
                matmul_nn<double>(count, n, n, 1, in, n, matrix.data(), n, 0, out, n);
                finish(count, n, out);
            }};
}

LinearMap diagonal(const Vector& values) {
    const auto product = [values](int count, const double* in, double* out) {
        for (int k = 0; k < count; ++k)
            for (std::size_t i = 0; i < values.size(); ++i)
                out[static_cast<std::size_t>(k) * values.size() + i] =
                    values[i] * in[static_cast<std::size_t>(k) * values.size() + i];
    };
    return {static_cast<int>(values.size()), product, product};
}

/// A random matrix whose spectrum falls as i^-decay; decay 0 is a plain Gaussian matrix.
Vector random_matrix(int n, double decay, std::uint64_t seed) {
    Vector a = normals(static_cast<std::size_t>(n * n), seed);
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) a[static_cast<std::size_t>(r * n + c)] *= std::pow(c + 1.0, -decay);
    return a;
}

Vector exact_values(const Vector& matrix, int n) {
    Vector values(static_cast<std::size_t>(n));
    singular_values(n, n, matrix.data(), values.data());
    return values;
}

/// Empty when every bar holds against the exact descending spectrum.
QString broken_bars(const Spectrum& s, const Vector& exact) {
    for (std::size_t i = 0; i < s.top.size(); ++i) {
        if (!(std::abs(s.top[i] - exact[i]) <= s.top_error[i]))
            return QString("top %1: %2 ± %3, exact %4")
                .arg(i)
                .arg(s.top[i], 0, 'g', 17)
                .arg(s.top_error[i])
                .arg(exact[i], 0, 'g', 17);
        const double low = exact[exact.size() - 1 - i];
        if (!(std::abs(s.bottom[i] - low) <= s.bottom_error[i]))
            return QString("bottom %1: %2 ± %3, exact %4")
                .arg(i)
                .arg(s.bottom[i])
                .arg(s.bottom_error[i])
                .arg(low);
    }
    return {};
}

double worst_relative(const Spectrum& s, const Vector& exact) {
    double worst = 0;
    for (std::size_t i = 0; i < s.top.size(); ++i) worst = std::max(worst, std::abs(s.top[i] / exact[i] - 1));
    return worst;
}

}  // namespace

class BlockLanczosTest : public QObject {
    Q_OBJECT
    ThreadPool pool{2};

  private Q_SLOTS:
    void diagonalMap() {
        Vector values(600);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = 10.0 / static_cast<double>(i + 1);
        const Spectrum s = block_lanczos(diagonal(values), {.vectors = true}, pool);
        QVERIFY(s.converged);
        QVERIFY(!s.complete);
        QVERIFY(s.dimension < 300);
        QCOMPARE(broken_bars(s, values), QString());
        QVERIFY2(worst_relative(s, values) < 1e-8, qPrintable(QString::number(worst_relative(s, values))));
        for (std::size_t i = 0; i < 16; ++i) QVERIFY(s.top_error[i] <= 1e-6 * values[i]);
        QVERIFY(std::abs(std::abs(s.left[0]) - 1) < 1e-6 && std::abs(std::abs(s.right[0]) - 1) < 1e-6);
    }

    /// By hand: of the residual alone, and of Σr² over the gap to the upper end of the next value's bar.
    void barsFromResiduals() {
        const Vector values{3, 2.5, 1}, residuals{0.5, 0.25, 0.2};
        const Vector one = residual_bars(values, residuals, 1);
        QCOMPARE(one.size(), std::size_t{1});
        // 0.25/(3 − 2.75) is above 0.5; (0.25 + 0.0625)/(3 − 1.2) is not.
        QVERIFY(std::abs(one[0] - 0.3125 / 1.8) < 1e-15);
        const Vector two = residual_bars(values, residuals, 2);
        QVERIFY(std::abs(two[0] - 0.3125 / 1.8) < 1e-15);
        QVERIFY(std::abs(two[1] - 0.3125 / 1.3) < 1e-15);
        QCOMPARE(residual_bars(values, residuals, 3), residuals);
        // No gap: the next value may be as large.
        QCOMPARE(residual_bars({3, 2.9}, {0.5, 0.4}, 1), (Vector{0.5}));
    }

    /// Sixteen equal values at the top, then pairs that differ in the seventh digit.
    void clusteredValues() {
        Vector values(500);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = i < 16 ? 3.0
                               : (i < 40 ? 2.0 : 1.0) * (1 + 1e-7 * static_cast<double>(i % 2)) /
                                     (1 + 0.001 * static_cast<double>(i));
        std::sort(values.rbegin(), values.rend());
        for (int wanted : {16, 24}) {
            const Spectrum s = block_lanczos(diagonal(values), {.count = wanted}, pool);
            QVERIFY(s.converged);
            QCOMPARE(broken_bars(s, values), QString());
            QVERIFY(worst_relative(s, values) < 1e-6);
        }
    }

    void identityMap() {
        const Vector values(300, 1.0);
        const Spectrum s = block_lanczos(diagonal(values), {}, pool);
        QVERIFY(s.converged);
        QCOMPARE(broken_bars(s, values), QString());
    }

    void zeroMap() {
        const Spectrum s = block_lanczos(diagonal(Vector(100, 0.0)), {.frobenius = true}, pool);
        QVERIFY(s.converged);
        for (std::size_t i = 0; i < 16; ++i)
            QVERIFY(s.top[i] == 0 && s.top_error[i] == 0 && s.bottom[i] == 0);
        QCOMPARE(s.squared_norm, 0.0);
    }

    /// Rank 5: the search space has to invent directions, and the wanted values beyond the rank are 0.
    void lowRank() {
        Vector values(200, 0.0);
        for (std::size_t i = 0; i < 5; ++i) values[i] = static_cast<double>(5 - i);
        const Spectrum s = block_lanczos(diagonal(values), {}, pool);
        QVERIFY(s.converged);
        QCOMPARE(broken_bars(s, values), QString());
    }

    /// Searched to the end, both ends are exact; a null space is found as such.
    void wholeSpace() {
        Vector values(70);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = i < 60 ? 1 + 0.01 * static_cast<double>(60 - i) : 0.0;
        for (int count : {16, 11, 70, 90}) {
            const Spectrum s =
                block_lanczos(diagonal(values), {.count = count, .tolerance = 0, .frobenius = true}, pool);
            QVERIFY2(s.complete, qPrintable(QString::number(count)));
            QCOMPARE(s.top.size(), static_cast<std::size_t>(std::min(count, 70)));
            QCOMPARE(broken_bars(s, values), QString());
            QVERIFY(s.bottom_error[0] < 1e-12);
            const double norm = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
            QVERIFY(std::abs(s.squared_norm / norm - 1) < 1e-12);
            QCOMPARE(s.squared_norm_error, 0.0);
        }
    }

    /// Random maps, stopped early or not, with exact and with float32 products.
    void everyBarHolds_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 50; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void everyBarHolds() {
        QFETCH(int, seed);
        const int n = 120 + 8 * seed;
        const Vector matrix = random_matrix(n, seed % 5 * 0.2, static_cast<std::uint64_t>(seed));
        const Vector exact = exact_values(matrix, n);
        const bool rounded = seed % 2 == 1;
        const Spectrum s =
            block_lanczos(map_of(matrix, n, rounded), {.seed = static_cast<std::uint64_t>(seed)}, pool);
        QCOMPARE(broken_bars(s, exact), QString());
        QVERIFY(s.converged);
        QVERIFY(worst_relative(s, exact) < 1e-6);
        const Spectrum early = block_lanczos(map_of(matrix, n, rounded), {.max_dimension = 96}, pool);
        QVERIFY(early.dimension <= 96);
        QCOMPARE(broken_bars(early, exact), QString());
        const Spectrum dense = dense_spectrum(map_of(matrix, n), {});
        QCOMPARE(broken_bars(dense, exact), QString());
        QVERIFY(dense.complete && dense.bottom_error[0] < 1e-10);
    }

    /// Stopped early, where residuals are as large as the gaps between values: the bars say so.
    void barsHoldWhereNothingHasConverged() {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const int n = 80 + static_cast<int>(seed);
            const Vector matrix = random_matrix(n, 0.1 * static_cast<double>(seed % 4), 500 + seed);
            const Spectrum s = block_lanczos(map_of(matrix, n), {.count = 8, .max_dimension = 32}, pool);
            QVERIFY(!s.complete);
            QCOMPARE(broken_bars(s, exact_values(matrix, n)), QString());
        }
    }

    void frobeniusNorm() {
        int within_two = 0;
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const Vector matrix = random_matrix(300, 0.3, 100 + seed);
            const double exact = std::inner_product(matrix.begin(), matrix.end(), matrix.begin(), 0.0);
            const Spectrum s = block_lanczos(map_of(matrix, 300),
                                             {.frobenius = true, .max_dimension = 64, .seed = seed}, pool);
            QVERIFY(s.squared_norm_error > 0 && s.squared_norm_error < 0.1 * exact);
            QVERIFY(std::abs(s.squared_norm - exact) < 6 * s.squared_norm_error);
            within_two += std::abs(s.squared_norm - exact) < 2 * s.squared_norm_error;
        }
        QVERIFY2(within_two >= 32, qPrintable(QString::number(within_two)));  // 95 % of them, give or take
    }

    void singularVectors() {
        const int n = 200;
        const Vector matrix = random_matrix(n, 0.7, 7);
        for (bool dense : {false, true}) {
            const LinearMap map = map_of(matrix, n);
            const Spectrum s =
                dense ? dense_spectrum(map, {.vectors = true}) : block_lanczos(map, {.vectors = true}, pool);
            Vector image(static_cast<std::size_t>(n));
            map.apply(1, s.right.data(), image.data());
            for (std::size_t i = 0; i < image.size(); ++i)
                QVERIFY(std::abs(image[i] - s.top[0] * s.left[i]) < 1e-6 * s.top[0]);
            map.apply_transpose(1, s.left.data(), image.data());
            for (std::size_t i = 0; i < image.size(); ++i)
                QVERIFY(std::abs(image[i] - s.top[0] * s.right[i]) < 1e-3 * s.top[0]);
        }
    }

    void sameBitsOnAnyNumberOfThreads() {
        const Vector matrix = random_matrix(700, 0.5, 3);
        ThreadPool one(1), four(4);
        const auto run = [&](ThreadPool& with) {
            return block_lanczos(map_of(matrix, 700), {.vectors = true, .frobenius = true}, with);
        };
        const Spectrum a = run(one), b = run(four);
        QVERIFY(a.top == b.top && a.top_error == b.top_error && a.bottom == b.bottom && a.left == b.left);
        QCOMPARE(a.squared_norm, b.squared_norm);
        const Spectrum other = block_lanczos(map_of(matrix, 700), {.seed = 1}, one);
        QVERIFY(other.top != a.top);  // the seed counts
    }

    void memoryBoundsTheSearch() {
        Vector values(4000);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2 - 1e-4 * static_cast<double>(i);
        const Spectrum s = block_lanczos(diagonal(values), {.memory = 8'000'000}, pool);
        QVERIFY(!s.converged);
        QVERIFY(s.dimension <= 125);
        QVERIFY(s.dimension >= 112);
    }

    void notFinite() {
        Vector values(100, 1.0);
        values[3] = std::numeric_limits<double>::quiet_NaN();
        for (const Spectrum& s :
             {block_lanczos(diagonal(values), {}, pool), dense_spectrum(diagonal(values), {})}) {
            QVERIFY(!s.converged);
            QVERIFY(std::isnan(s.top[0]) && std::isnan(s.top_error[15]) && std::isnan(s.bottom[0]));
        }
    }

    void cancelledBetweenProducts() {
        struct Stop {};
        int products = 0;
        const SpectrumOptions options{.check = [&] {
            if (++products == 3) throw Stop{};
        }};
        bool stopped = false;
        try {
            block_lanczos(diagonal(Vector(400, 1.0)), options, pool);
        } catch (const Stop&) {
            stopped = true;
        }
        QVERIFY(stopped);
    }
};

NORMSCOPE_TEST(BlockLanczosTest)
#include "block_lanczos_test.moc"
