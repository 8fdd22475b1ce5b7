// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/error.h"
#include "core/theory/lipschitz.h"

#include <Eigen/Dense>

#include <QTest>
#include <cmath>
#include <random>
#include <vector>

using namespace normscope;

namespace {

using Eigen::MatrixXd;

class LipschitzTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void boundsHoldOnRandomStacks() {
        std::mt19937_64 generator(1);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> size(0.05, 0.9);
        for (int trial = 0; trial < 200; ++trial) {
            MatrixXd stack = MatrixXd::Identity(6, 6);
            std::vector<double> norms;
            for (int layer = 0; layer < 4; ++layer) {
                MatrixXd branch = MatrixXd::NullaryExpr(6, 6, [&] { return normal(generator); });
                norms.push_back(size(generator));
                branch *= norms.back() / Eigen::JacobiSVD<MatrixXd>(branch).singularValues()(0);
                const MatrixXd step = MatrixXd::Identity(6, 6) + branch;
                const Eigen::VectorXd sv = Eigen::JacobiSVD<MatrixXd>(step).singularValues();
                QVERIFY(sv(5) >= residual_min_singular_value(norms.back()) - 1e-12);
                QVERIFY(sv(0) / sv(5) <= residual_condition_number(norms.back()) * (1 + 1e-12));
                stack = step * stack;
            }
            const Eigen::VectorXd sv = Eigen::JacobiSVD<MatrixXd>(stack).singularValues();
            QVERIFY(sv(5) >= residual_min_singular_value(norms) - 1e-12);
            QVERIFY(sv(0) / sv(5) <= residual_condition_number(norms) * (1 + 1e-12));
            QVERIFY(sv(0) <= residual_amplification(norms) * (1 + 1e-12));
        }
    }

    /// diag(ρ, −ρ) attains every one of them.
    void boundsAreAttained() {
        const double rho = 0.6;
        QCOMPARE(residual_min_singular_value(rho), 0.4);
        QCOMPARE(residual_condition_number(rho), 1.6 / 0.4);
        QCOMPARE(residual_amplification(std::vector{rho, rho}), 1.6 * 1.6);
        QVERIFY(residual_condition_number(rho) >
                residual_amplification(std::vector{rho}));  // the erratum of [B]
    }

    void nothingIsPromisedBeyondOne() {
        QCOMPARE(residual_min_singular_value(1.5), 0.0);
        QVERIFY(std::isinf(residual_condition_number(1.0)));
        QVERIFY(std::isinf(residual_condition_number(std::vector{0.1, 2.0, 0.1})));
        QCOMPARE(residual_min_singular_value(std::vector{0.1, 2.0, 3.0}), 0.0);
        QCOMPARE(residual_condition_number(std::vector<double>{}), 1.0);
    }

    void badInputIsRefused() {
        QVERIFY_EXCEPTION_THROWN(residual_min_singular_value(-0.1), InputError);
        QVERIFY_EXCEPTION_THROWN(residual_condition_number(NAN), InputError);
        QVERIFY_EXCEPTION_THROWN(residual_amplification(std::vector<double>{INFINITY}), InputError);
    }
};

}  // namespace

QTEST_GUILESS_MAIN(LipschitzTest)
#include "lipschitz_test.moc"
