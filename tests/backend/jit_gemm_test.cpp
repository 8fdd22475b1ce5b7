// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/jit_gemm.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <vector>

using namespace normscope;

namespace {

struct Matrix {
    Matrix(int r, int c, int stride, double phase)
        : rows(r), columns(c), ld(stride), values(static_cast<std::size_t>(r) * stride) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(std::sin(0.37 * i + phase));
    }
    double at(int r, int c) const { return values[static_cast<std::size_t>(r) * ld + c]; }
    int rows, columns, ld;
    std::vector<float> values;
};

}  // namespace

class JitGemmTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Against sums in float64 within the bound on sums of K products, over blocks that end within the shape,
    /// strides wider than the rows, and both ways to write. Entries between the rows stay as they were.
    void isTheProduct_data() {
        QTest::addColumn<int>("M");
        QTest::addColumn<int>("N");
        QTest::addColumn<int>("K");
        const int shapes[][3] = {{16, 16, 1},   {32, 64, 16},  {17, 65, 33},    {192, 128, 65},
                                 {64, 200, 64}, {48, 63, 513}, {33, 129, 1100}, {200, 129, 600}};
        for (const auto& [M, N, K] : shapes) QTest::addRow("%d x %d x %d", M, N, K) << M << N << K;
    }
    void isTheProduct() {
        QFETCH(int, M);
        QFETCH(int, N);
        QFETCH(int, K);
        for (const bool ta : {false, true})
            for (const bool tb : {false, true})
                for (const bool add : {false, true}) {
                    if (ta && tb) continue;
                    const Matrix a(ta ? K : M, ta ? M : K, (ta ? M : K) + 3, 0.1);
                    const Matrix b(tb ? N : K, tb ? K : N, (tb ? K : N) + 5, 0.7);
                    const Matrix before(M, N, N + 2, 1.3);
                    Matrix c = before;
                    if (!jit_gemm(ta, tb, M, N, K, a.values.data(), a.ld, b.values.data(), b.ld, add,
                                  c.values.data(), c.ld)) {
                        QVERIFY(best_isa() < Isa::Avx2);  // only an older processor has no kernel here
                        QCOMPARE(c.values, before.values);
                        continue;
                    }
                    for (int m = 0; m < M; ++m)
                        for (int n = 0; n < c.ld; ++n) {
                            double wanted = add || n >= N ? before.at(m, n) : 0, size = 1;
                            for (int k = 0; n < N && k < K; ++k) {
                                const double product =
                                    (ta ? a.at(k, m) : a.at(m, k)) * (tb ? b.at(n, k) : b.at(k, n));
                                wanted += product;
                                size += std::abs(product);
                            }
                            QVERIFY2(std::abs(c.at(m, n) - wanted) <= (K + 2) * 6e-8 * size,
                                     qPrintable(QString("%1%2%3 [%4, %5]: off by %6 of %7")
                                                    .arg(ta)
                                                    .arg(tb)
                                                    .arg(add)
                                                    .arg(m)
                                                    .arg(n)
                                                    .arg(c.at(m, n) - wanted)
                                                    .arg(size)));
                        }
                }
    }

    void leavesOtherShapesAlone() {
        const Matrix a(40, 40, 40, 0), b(40, 40, 40, 1), before(40, 40, 40, 2);
        Matrix c = before;
        const auto rejected = [&](bool ta, bool tb, int M, int N) {
            return !jit_gemm(ta, tb, M, N, 40, a.values.data(), 40, b.values.data(), 40, false,
                             c.values.data(), 40) &&
                   c.values == before.values;
        };
        QVERIFY(rejected(true, true, 40, 40));
        QVERIFY(rejected(false, false, 15, 40));
        QVERIFY(rejected(false, true, 40, 15));
    }
};

NORMSCOPE_TEST(JitGemmTest)
#include "jit_gemm_test.moc"
