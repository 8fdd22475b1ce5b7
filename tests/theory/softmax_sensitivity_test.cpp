// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/softmax_sensitivity.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace normscope;

namespace {

using Row = std::vector<double>;

Row normalised(Row row) {
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value /= sum;
    return row;
}

/// The four families of random rows: softmax of N(0,1) and N(0,3) logits, Dirichlet, nearly two-way ties.
Row random_row(int family, std::size_t length, std::mt19937_64& generator) {
    std::normal_distribution<double> normal;
    std::gamma_distribution<double> gamma(0.3);
    Row row(length);
    for (double& value : row)
        value = family == 2 ? gamma(generator) : std::exp((family == 1 ? 3 : 1) * normal(generator));
    if (family == 3) {
        for (double& value : row) value *= 1e-3 / static_cast<double>(length);
        row[0] = 1 + 1e-4 * normal(generator);
        row[length / 2] = 1;
    }
    return normalised(row);
}

double enumerate(const Row& p) {
    double best = 0;
    for (unsigned mask = 0; mask < 1U << p.size(); ++mask) {
        double inside = 0;
        double outside = 0;
        for (std::size_t i = 0; i < p.size(); ++i) (mask >> i & 1 ? inside : outside) += p[i];
        best = std::max(best, 4 * inside * outside);
    }
    return best;
}

double theta_of(const Row& p, const std::vector<std::size_t>& subset) {
    std::vector<bool> member(p.size());
    for (const std::size_t i : subset) member[i] = true;
    double inside = 0;
    double outside = 0;
    for (std::size_t i = 0; i < p.size(); ++i) (member[i] ? inside : outside) += p[i];
    return 4 * inside * outside;
}

/// ‖J x‖₁ of the softmax Jacobian J = (diag p − ppᵀ)/τ.
double image_norm(const Row& p, const std::vector<double>& x, double temperature) {
    const double mean = std::inner_product(p.begin(), p.end(), x.begin(), 0.0);
    double norm = 0;
    for (std::size_t i = 0; i < p.size(); ++i) norm += std::abs(p[i] * (x[i] - mean)) / temperature;
    return norm;
}

std::vector<double> perturbation(std::size_t length, const std::vector<std::size_t>& subset) {
    std::vector<double> x(length, -1.0);
    for (const std::size_t i : subset) x[i] = 1;
    return x;
}

bool near(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance;
}

class SoftmaxSensitivityTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void referenceCases() {
        for (std::size_t length = 2; length <= 300; ++length) {
            const double n = static_cast<double>(length);
            const Sensitivity theta = softmax_sensitivity(Row(length, 1 / n));
            QVERIFY2(near(theta.value, length % 2 == 0 ? 1 : 1 - 1 / (n * n), 2e-15),
                     qPrintable(QString::number(n)));
            QVERIFY(theta.upper - theta.lower < 1e-12);
        }
        QCOMPARE(softmax_sensitivity(Row{1}).upper, 0.0);
        QCOMPARE(softmax_sensitivity(Row{0, 0, 1, 0}).upper, 0.0);
        QVERIFY(near(softmax_sensitivity(Row{.35, .30, .20, .15}).value, 1, 1e-15));
        QVERIFY(near(softmax_sensitivity(Row{.4, .1, .4, .1}).value, 1, 1e-15));
        QVERIFY(near(softmax_sensitivity(Row{.5, .5}).value, 1, 1e-15));
        QVERIFY(near(softmax_sensitivity(Row{.9, .06, .04}).value, .36, 1e-15));
    }

    /// 1 − (1 − 2⌊k/2⌋/k)², [E] Corollary 4.3 (4), hidden among zeros and among a light tail.
    void topKUniform() {
        for (std::size_t k = 1; k <= 41; ++k) {
            Row row(300, 0.0);
            for (std::size_t i = 0; i < k; ++i) row[(7 * i) % 300] = 1 / static_cast<double>(k);
            const double miss = 1 - 2 * static_cast<double>(k / 2) / static_cast<double>(k);
            QVERIFY(near(softmax_sensitivity(row).value, 1 - miss * miss, 2e-15));

            for (double& value : row)
                if (value == 0) value = 1e-7;
            const Sensitivity with_tail = softmax_sensitivity(normalised(row));
            QVERIFY2(with_tail.upper - with_tail.lower < 1e-12, qPrintable(QString::number(k)));
            QVERIFY(near(with_tail.value, 1 - miss * miss, 5e-4));
        }
    }

    /// [E] Theorem 4.2 at machine precision: enumeration up to 16 entries, 1e-13.
    void agreesWithEnumeration() {
        std::mt19937_64 generator(1);
        SoftmaxSensitivity solver;
        for (int family = 0; family < 4; ++family)
            for (std::size_t length = 2; length <= 16; ++length)
                for (int trial = 0; trial < (length <= 10 ? 50 : 6); ++trial) {
                    const Row row = random_row(family, length, generator);
                    const Sensitivity theta = solver.solve(row);
                    const double exact = enumerate(row);
                    QVERIFY2(
                        std::abs(theta.value - exact) < 1e-13 * exact,
                        qPrintable(QString("L %1: %2 against %3").arg(length).arg(theta.value).arg(exact)));
                    QVERIFY(theta.lower <= exact + 1e-15 && exact <= theta.upper + 1e-15);
                    QVERIFY(near(theta_of(row, solver.subset()), theta.value, 1e-14));
                }
    }

    /// 500 rows at each length: the interval is below 1e-12, the value is that of the returned subset, and ‖J
    /// x*‖₁ = θ/τ, which no random subset exceeds.
    void randomRowsAreCertified_data() {
        QTest::addColumn<int>("family");
        QTest::newRow("normal logits") << 0;
        QTest::newRow("normal logits times 3") << 1;
        QTest::newRow("Dirichlet") << 2;
        QTest::newRow("nearly two-way ties") << 3;
    }
    void randomRowsAreCertified() {
        QFETCH(int, family);
        constexpr double temperature = 0.7;
        std::mt19937_64 generator(2);
        SoftmaxSensitivity solver;
        for (std::size_t length = 8; length <= 1024; length *= 2)
            for (int trial = 0; trial < 125; ++trial) {
                const Row row = random_row(family, length, generator);
                const Sensitivity theta = solver.solve(row);
                QVERIFY2(theta.upper - theta.lower < 1e-12,
                         qPrintable(QString("L %1: width %2").arg(length).arg(theta.upper - theta.lower)));
                QVERIFY(theta.lower <= theta.value && theta.value <= theta.upper && theta.upper <= 1);
                const auto subset = solver.subset();
                QVERIFY(std::is_sorted(subset.begin(), subset.end()));
                QVERIFY(near(theta_of(row, subset), theta.value, 1e-13));
                QVERIFY(near(image_norm(row, perturbation(length, subset), temperature),
                             theta.value / temperature, 1e-13));
                for (int guess = 0; guess < 10; ++guess) {
                    std::vector<double> x(length);
                    for (double& sign : x) sign = generator() & 1 ? 1 : -1;
                    QVERIFY(image_norm(row, x, temperature) * temperature <= theta.upper + 1e-13);
                }
            }
    }

    void attentionShapesAreCertified() {
        std::mt19937_64 generator(3);
        std::normal_distribution<double> normal;
        SoftmaxSensitivity solver;
        for (const double spread : {1e-3, 0.02, 0.1})
            for (const double sink : {0.0, 0.4})
                for (std::size_t length = 2; length <= 260; length += 3) {
                    Row row(length);
                    for (double& value : row) value = std::exp(spread * normal(generator));
                    if (sink > 0) row[0] = sink * static_cast<double>(length);
                    const Sensitivity theta = solver.solve(normalised(row));
                    QVERIFY2(theta.upper - theta.lower < 1e-12, qPrintable(QString::number(length)));
                }
    }

    void floatRows() {
        std::mt19937_64 generator(4);
        SoftmaxSensitivity quick(SensitivityOptions::single_precision());
        for (int family = 0; family < 4; ++family)
            for (const std::size_t length : {3UL, 12UL, 16UL, 127UL, 1024UL})
                for (int trial = 0; trial < 20; ++trial) {
                    const Row row = random_row(family, length, generator);
                    const std::vector<float> single(row.begin(), row.end());
                    const Sensitivity theta = quick.solve(single);
                    QVERIFY(theta.upper - theta.lower < 1e-6);
                    QVERIFY(near(theta.value, softmax_sensitivity(row).value, 2e-6));
                }
    }

    /// A hard row (odd multiples, odd total) under a small limit: bounded, not certified, and correct.
    void uncertifiedRowsAreBounded() {
        Row row;
        for (int i = 0; i < 60; ++i) row.push_back(2 * (i % 17) + 3);
        row.push_back(1);
        const double total = std::accumulate(row.begin(), row.end(), 0.0);
        QCOMPARE(std::fmod(total, 2), 1.0);
        SensitivityOptions options;
        options.work_limit = 100;
        const Sensitivity theta = softmax_sensitivity(normalised(row), options);
        const double best = 1 - 1 / (total * total);  // the difference of odd-total integers is at least 1
        QVERIFY(theta.upper == 1 && theta.lower <= best && theta.value <= best + 1e-15);
    }

    /// A row so peaked that 1 − p_max would lose all digits.
    void smallValuesKeepTheirDigits() {
        const Sensitivity theta = softmax_sensitivity(Row{1, 3e-20, 1e-20});
        QVERIFY(near(theta.value / 1.6e-19, 1, 1e-14));
        QVERIFY(theta.lower <= theta.value && theta.value <= theta.upper);
    }

    void rowsAreNormalisedOrRejected() {
        QVERIFY(near(softmax_sensitivity(Row{0.8 * (1 + 5e-7), 0.2 * (1 + 5e-7)}).value, 0.64, 1e-15));
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{0.8, 0.2001}), InputError);
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{0.6, 0.6, -0.2}), InputError);
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{0.5, 0.5, NAN}), InputError);
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{INFINITY, 0.5}), InputError);
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{}), InputError);
        QVERIFY_EXCEPTION_THROWN(softmax_sensitivity(Row{0, 0}), InputError);
        SensitivityOptions emulated = SensitivityOptions::single_precision();
        emulated.sum_tolerance = 1e-2;
        QVERIFY(near(softmax_sensitivity(std::vector<float>{0.75F * 1.005F, 0.25F * 1.005F}, emulated).value,
                     0.75, 1e-6));
    }

    /// Erratum [E] App. E.2: with the paper's own protocol (N(0,1) logits) the prefix heuristic misses the
    /// optimum.
    void prefixHeuristicIsNotExact() {
        QVERIFY(near(prefix_heuristic_sensitivity(Row{.35, .30, .20, .15}), 0.91, 1e-15));
        QVERIFY(near(prefix_heuristic_sensitivity(Row(10, 0.1)), 1, 1e-15));
        std::mt19937_64 generator(5);
        int misses = 0;
        for (int trial = 0; trial < 100; ++trial) {
            const Row row = random_row(0, 12, generator);
            const double heuristic = prefix_heuristic_sensitivity(row);
            const double exact = softmax_sensitivity(row).value;
            QVERIFY(heuristic <= exact + 1e-15);
            misses += heuristic < exact - 1e-9;
        }
        QVERIFY2(misses > 70, qPrintable(QString::number(misses)));
    }

    /// Erratum [E] Corollary 4.3 (3): 4κ(1 − κ) bounds θ only up to κ = 1/2.
    void peakedRowBound() {
        const Row uniform(10, 0.1);
        const double kappa = 0.9;
        QVERIFY(4 * kappa * (1 - kappa) < 0.37 && softmax_sensitivity(uniform).value > 0.999);
        QCOMPARE(peaked_row_bound(kappa), 1.0);
        for (const double k : {0.0, 0.1, 0.3, 0.5})
            QVERIFY(
                near(softmax_sensitivity(Row{1 - k, k / 2, k / 4, k / 4}).value, peaked_row_bound(k), 1e-15));
        QVERIFY_EXCEPTION_THROWN(peaked_row_bound(1.5), InputError);
    }
};

}  // namespace

NORMSCOPE_TEST(SoftmaxSensitivityTest)
#include "softmax_sensitivity_test.moc"
