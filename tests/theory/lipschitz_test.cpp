// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/lipschitz.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

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
                stack = step * stack;
            }
            const Eigen::VectorXd sv = Eigen::JacobiSVD<MatrixXd>(stack).singularValues();
            QVERIFY(sv(5) >= residual_min_singular_value(norms) - 1e-12);
        }
    }

    /// diag(ρ, −ρ) attains it.
    void boundsAreAttained() {
        const double rho = 0.6;
        QCOMPARE(residual_min_singular_value(rho), 0.4);
    }

    void nothingIsPromisedBeyondOne() {
        QCOMPARE(residual_min_singular_value(1.5), 0.0);
        QCOMPARE(residual_min_singular_value(std::vector{0.1, 2.0, 3.0}), 0.0);
    }

    void badInputIsRejected() { QVERIFY_EXCEPTION_THROWN(residual_min_singular_value(-0.1), InputError); }
};

}  // namespace

NORMSCOPE_TEST(LipschitzTest)
#include "lipschitz_test.moc"
