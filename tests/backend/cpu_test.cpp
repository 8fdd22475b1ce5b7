// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

using namespace normscope;

class CpuTest : public QObject {
    Q_OBJECT

    /// The three forms, with rows further apart than they are long, against a sum in float64.
    template <class T>
    static void compareProducts(int M, int N, int K, double tolerance) {
        const int ld = std::max({M, N, K}) + 4;
        const auto size = static_cast<std::size_t>(ld) * static_cast<std::size_t>(ld);
        std::vector<T> a(size), b(size);
        for (std::size_t i = 0; i < size; ++i) {
            a[i] = static_cast<T>(std::sin(0.3 * static_cast<double>(i)));
            b[i] = static_cast<T>(std::cos(0.7 * static_cast<double>(i)));
        }
        const auto at = [&](const std::vector<T>& m, int r, int c) {
            return static_cast<double>(m[static_cast<std::size_t>(r * ld + c)]);
        };
        for (int form = 0; form < 3; ++form) {
            std::vector<T> c(size, T(2));
            if (form == 0) matmul_nt<T>(M, N, K, T(1.5), a.data(), ld, b.data(), ld, T(0.5), c.data(), ld);
            if (form == 1) matmul_nn<T>(M, N, K, T(1.5), a.data(), ld, b.data(), ld, T(0.5), c.data(), ld);
            if (form == 2) matmul_tn<T>(M, N, K, T(1.5), a.data(), ld, b.data(), ld, T(0.5), c.data(), ld);
            for (int i = 0; i < M; ++i)
                for (int j = 0; j < N; ++j) {
                    double sum = 0;
                    for (int k = 0; k < K; ++k)
                        sum +=
                            (form == 2 ? at(a, k, i) : at(a, i, k)) * (form == 0 ? at(b, j, k) : at(b, k, j));
                    QVERIFY(std::abs(at(c, i, j) - (1.5 * sum + 1)) < tolerance);
                }
            QCOMPARE(at(c, 0, N), 2.0);  // nothing outside the result was written
        }
    }

  private Q_SLOTS:
    void gemmsAgainstThreeLoops() {
        compareProducts<double>(5, 7, 3, 1e-14);
        // With such factors float32 is left to OpenBLAS too; jit_gemm_test has the others.
        compareProducts<float>(5, 7, 3, 1e-5);
        compareProducts<float>(33, 100, 37, 1e-5);
    }

    void singularValuesOfKnownMatrices() {
        // A rotation times diag(3, 1e-9): singular values 3 and 1e-9.
        const double c = std::cos(0.4), s = std::sin(0.4), m[] = {3 * c, -1e-9 * s, 3 * s, 1e-9 * c};
        double values[2];
        singular_values(2, 2, m, values);
        QVERIFY(std::abs(values[0] - 3) < 1e-14);
        QVERIFY(std::abs(values[1] - 1e-9) < 1e-15);
        const double wide[] = {3, 0, 0, 0, 4, 0};
        singular_values(2, 3, wide, values);
        QCOMPARE(values[0], 4.0);
        QCOMPARE(values[1], 3.0);
        const double bad[] = {1, std::nan(""), 0, 1};
        singular_values(2, 2, bad, values);
        QVERIFY(std::isnan(values[0]) && std::isnan(values[1]));
    }

    void poolRunsEveryPieceOnce() {
        ThreadPool pool(3);
        QCOMPARE(pool.threads(), 3);
        for (int round = 0; round < 200; ++round) {
            std::vector<std::atomic<int>> taken(17);
            pool.run(17, [&](int i) { ++taken[static_cast<std::size_t>(i)]; });
            for (const auto& count : taken) QCOMPARE(count.load(), 1);
        }
    }

    void poolHandsOnAnException() {
        ThreadPool pool(2);
        QVERIFY_EXCEPTION_THROWN(pool.run(8,
                                          [](int i) {
                                              if (i == 5) throw std::runtime_error("piece 5");
                                          }),
                                 std::runtime_error);
        std::atomic<int> after = 0;
        pool.run(4, [&](int) { ++after; });
        QCOMPARE(after.load(), 4);
    }
};

NORMSCOPE_TEST(CpuTest)
#include "cpu_test.moc"
