// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/transport.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace normscope;

namespace {

double cost_of(const std::vector<double>& cost, const std::vector<std::size_t>& columns) {
    double sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) sum += cost[i * columns.size() + columns[i]];
    return sum;
}

}  // namespace

class TransportTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void assignmentsAgainstEnumeration() {
        std::mt19937 generator(1);
        for (std::size_t n = 1; n <= 7; ++n)
            for (int trial = 0; trial < 60; ++trial) {
                // Every third with ties, every fourth with negative costs.
                std::uniform_real_distribution<double> uniform(trial % 4 == 0 ? -1 : 0, 1);
                std::vector<double> cost(n * n);
                for (double& c : cost)
                    c = trial % 3 == 0 ? std::floor(4 * uniform(generator)) : uniform(generator);
                std::vector<std::size_t> order(n);
                std::iota(order.begin(), order.end(), 0u);
                double least = INFINITY;
                do least = std::min(least, cost_of(cost, order));
                while (std::next_permutation(order.begin(), order.end()));
                auto found = cheapest_assignment(n, cost);
                QVERIFY(std::abs(cost_of(cost, found) - least) < 1e-12);
                std::sort(found.begin(), found.end());
                for (std::size_t i = 0; i < n; ++i) QCOMPARE(found[i], i);
            }
    }

    /// On a line the cheapest pairing is that of the sorted points.
    void distributionsOnALine() {
        std::mt19937 generator(2);
        std::normal_distribution<double> normal;
        constexpr std::size_t n = 200;
        std::vector<double> x(n), y(n), squares(n * n);
        for (double& v : x) v = normal(generator);
        for (double& v : y) v = 1.5 * normal(generator) + 0.3;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) squares[i * n + j] = std::pow(x[i] - y[j], 2);
        const double found = wasserstein_2(n, squares);
        std::sort(x.begin(), x.end());
        std::sort(y.begin(), y.end());
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::pow(x[i] - y[i], 2) / n;
        QVERIFY(std::abs(found - std::sqrt(sum)) < 1e-12);
    }

    /// Peri-LN as in [K] eq. 14 with p = 2: W₀ + 4ΔtD√(nd)γ; gates and shortcuts scale.
    void shiftBounds() {
        BoundedSublayer s;
        s.step = 0.5;
        s.gamma_max = 1.5;
        s.beta_max = 7;  // cancels
        const std::vector<BoundedSublayer> peri(6, s);
        QVERIFY(std::abs(shift_bounds(2, 9, 16, peri).back() - (2 + 4 * 0.5 * 3 * 12 * 1.5)) < 1e-12);
        s.gate_scale = 0.9;
        s.shortcut_scale = 2;
        s.branch_scale = 3;
        QVERIFY(std::abs(shift_bounds(2, 9, 16, std::vector{s})[1] - 0.9 * (2 * 2 + 2 * 0.5 * 3 * 12 * 1.5)) <
                1e-12);
        s.output_norm = false;
        s.branch_rms = 0.25;
        QVERIFY(std::abs(shift_bounds(2, 9, 16, std::vector{s})[1] -
                         0.9 * (2 * 2 + 2 * 0.5 * 3 * 12 * 0.25)) < 1e-12);
        QCOMPARE(shift_bounds(2, 9, 16, {}).size(), std::size_t(1));
    }

    void whatIsRejected() {
        QVERIFY_EXCEPTION_THROWN(wasserstein_2(2, std::vector<double>(3)), InputError);
        QVERIFY_EXCEPTION_THROWN(cheapest_assignment(1, std::vector<double>{NAN}), InputError);
        QVERIFY_EXCEPTION_THROWN(shift_bounds(-1, 2, 2, {}), InputError);
        QVERIFY(cheapest_assignment(0, {}).empty());
    }
};

NORMSCOPE_TEST(TransportTest)
#include "transport_test.moc"
