// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/row_kernels.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

class ColumnKernelsTest : public QObject {
    Q_OBJECT

    template <class T>
    void check(Isa isa, int d) {
        const auto& k = row_kernels<T>(isa);
        const int rows = 3;
        std::vector<T> w, x, y, out(static_cast<std::size_t>(rows * d)), sums;
        for (int i = 0; i < d; ++i) {
            w.push_back(static_cast<T>(std::sin(i + 1.0)));
            sums.push_back(static_cast<T>(i));
        }
        for (int i = 0; i < rows * d; ++i) {
            x.push_back(static_cast<T>(std::cos(0.7 * i)));
            y.push_back(static_cast<T>(std::sin(0.3 * i)));
        }
        k.scale_columns(rows, d, T(0.5), w.data(), x.data(), out.data());
        k.column_products(rows, d, T(0.5), x.data(), y.data(), sums.data());
        const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;
        for (int i = 0; i < d; ++i) {
            double sum = i;
            for (int r = 0; r < rows; ++r) {
                const auto at = static_cast<std::size_t>(r * d + i);
                const double a = static_cast<double>(x[at]), b = static_cast<double>(y[at]);
                sum += 0.5 * a * b;
                QVERIFY(std::abs(static_cast<double>(out[at]) - 0.5 * std::sin(i + 1.0) * a) < tolerance);
            }
            QVERIFY(std::abs(static_cast<double>(sums[static_cast<std::size_t>(i)]) - sum) <
                    tolerance * (1 + i));
        }
        k.scale_columns(rows, d, T(0.5), w.data(), x.data(), x.data());  // in place
        QVERIFY(x == out);
    }

  private Q_SLOTS:
    void everyInstructionSet() {
        for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa)
            for (int d : {1, 7, 16, 33}) {
                check<float>(static_cast<Isa>(isa), d);
                check<double>(static_cast<Isa>(isa), d);
            }
    }
};

NORMSCOPE_TEST(ColumnKernelsTest)
#include "column_kernels_test.moc"
