// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/attention_kernels.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <vector>

using namespace normscope;

namespace {

std::vector<Isa> available() {
    std::vector<Isa> sets{Isa::Serial, Isa::Baseline};
    if (best_isa() >= Isa::Avx2) sets.push_back(Isa::Avx2);
    if (best_isa() >= Isa::Avx512) sets.push_back(Isa::Avx512);
    return sets;
}

/// A map [n, n] with entries from 1e-30 to 1, some of them 0, rows that sum to 0.98.
template <class T>
std::vector<T> map_of(int n, bool causal) {
    std::vector<T> p(static_cast<std::size_t>(n) * n, T(0));
    for (int i = 0; i < n; ++i) {
        const int length = causal ? i + 1 : n;
        double sum = 0;
        const auto weight = [&](int j) {
            return (i + j) % 5 == 0 && length > 1 && j > 0
                       ? 0
                       : std::exp(-34 * std::abs(std::sin(1.7 * i + 0.9 * j)));
        };
        for (int j = 0; j < length; ++j) sum += weight(j);
        for (int j = 0; j < length; ++j)
            p[static_cast<std::size_t>(i) * n + j] = static_cast<T>(0.98 * weight(j) / sum);
    }
    return p;
}

template <class T>
void check_sums(double tolerance) {
    for (const Isa isa : available())
        for (const int n : {1, 2, 7, 16, 33, 70})
            for (const auto& [causal, window] : {std::pair{false, 0}, {true, 0}, {true, 1}, {true, 5}}) {
                const auto p = map_of<T>(n, causal);
                AttentionRowSums wanted, got;
                for (int i = 0; i < n; ++i) {
                    const int length = causal ? i + 1 : n;
                    const int entries = window > 0 ? std::min(length, window) : length;
                    if (entries < 2) continue;
                    const T* row = p.data() + static_cast<std::size_t>(i) * n;
                    double mass = 0, entropy = 0;
                    for (int j = 0; j < length; ++j) mass += static_cast<double>(row[j]);
                    for (int j = 0; j < length; ++j)
                        if (const double v = static_cast<double>(row[j]) / mass; v > 0)
                            entropy -= v * std::log(v);
                    wanted.rows += 1;
                    wanted.entropy += entropy / std::log(static_cast<double>(entries));
                    wanted.first_mass += static_cast<double>(row[0]) / mass;
                }
                attention_kernels<T>(isa).add_rows(n, causal, window, p.data(), got);
                const auto where = QString("%1 n %2").arg(isa_name(isa)).arg(n);
                QCOMPARE(got.rows, wanted.rows);
                QVERIFY2(std::abs(got.entropy - wanted.entropy) <= tolerance * (1 + wanted.rows),
                         qPrintable(where));
                QVERIFY2(std::abs(got.first_mass - wanted.first_mass) <= tolerance * (1 + wanted.rows),
                         qPrintable(where));
            }
}

template <class T>
void check_magnitude() {
    for (const Isa isa : available()) {
        const int n = 37, rows = 5, first_row = 20;
        std::vector<T> s(static_cast<std::size_t>(rows) * n);
        for (std::size_t i = 0; i < s.size(); ++i)
            s[i] = static_cast<T>(std::sin(0.3 * static_cast<double>(i)));
        const auto largest = [&](bool causal) {
            return attention_kernels<T>(isa).largest_magnitude(rows, n, first_row, causal, s.data());
        };
        s[2 * n + 22] = T(-3);  // the last entry of row 2 that a causal map has
        s[2 * n + 23] = T(5);
        QCOMPARE(largest(true), T(3));
        QCOMPARE(largest(false), T(5));
        for (const T bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
            s[4 * n + 25] = bad;
            QCOMPARE(largest(true), T(3));
            QVERIFY(std::isnan(largest(false)));
        }
    }
}

}  // namespace

class AttentionKernelsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void sumsOverRows() {
        check_sums<double>(1e-14);
        check_sums<float>(1e-6);
    }

    void aNanIsNotLost() {
        for (const Isa isa : available()) {
            auto p = map_of<float>(20, true);
            p[19 * 20 + 3] = std::numeric_limits<float>::quiet_NaN();
            AttentionRowSums sums;
            attention_kernels<float>(isa).add_rows(20, true, 0, p.data(), sums);
            QVERIFY(std::isnan(sums.entropy) && std::isnan(sums.first_mass));
        }
    }

    void largestMagnitude() {
        check_magnitude<float>();
        check_magnitude<double>();
    }
};

NORMSCOPE_TEST(AttentionKernelsTest)
#include "attention_kernels_test.moc"
