// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/growth_bounds.h"

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

class GrowthBoundsTest : public QObject {
    Q_OBJECT

    std::mt19937_64 generator_{1};

    MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns) {
        std::normal_distribution<double> normal;
        return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator_); });
    }

    /// LayerNorm of every row with γ in [−γ_max, γ_max] and β in [−β_max, β_max], both extremes taken.
    static MatrixXd layer_norm(const MatrixXd& x, double gamma_max, double beta_max, double eps) {
        MatrixXd y(x.rows(), x.cols());
        for (Eigen::Index i = 0; i < x.rows(); ++i) {
            const Eigen::RowVectorXd centred = x.row(i).array() - x.row(i).mean();
            const double sigma = std::sqrt(centred.squaredNorm() / static_cast<double>(x.cols()) + eps);
            for (Eigen::Index j = 0; j < x.cols(); ++j)
                y(i, j) =
                    (j % 3 == 0 ? -gamma_max : gamma_max) * centred(j) / sigma + (j % 2 == 0 ? beta_max : 0);
        }
        return y;
    }

  private Q_SLOTS:
    /// R_k by hand: γ, β, Δt, b, the shortcut's scale and the gate.
    void recursionManually() {
        const std::vector<BoundedSublayer> sublayers{{0.5, 1, 2, 1, 1, 1}, {1, 3, 1, 0, 1.25, 0.5}};
        const auto r = bounded_branch_norms(10, 4, 9, sublayers);
        QCOMPARE(r.size(), std::size_t{3});
        QCOMPARE(r[0], 10.0);
        QCOMPARE(r[1], 10 + 0.5 * 6 * 3);
        QCOMPARE(r[2], 1.25 * (0.5 * 19 + 3 * 6));
        QCOMPARE(mean_absolute_bound(r[1], 4, 9), 19.0 / 6);
        QCOMPARE(variance_bound(r[1], 4, 9), 361.0 / 35);
    }

    /// A chain of sub-layers that differ in every number: each adds to the bound before it, scaled by its own
    /// shortcut and gate, never by another's.
    void aChainOfDifferentSublayers() {
        const std::vector<BoundedSublayer> chain{
            {0.5, 2, 1.5, 0.25, 0.75, 1.25}, {1, 0.5, 2, 1, 1.5, 0.5}, {0.1, 1, 3, 0.5, 2, 3}};
        const auto bounds = bounded_branch_norms(3, 2, 8, chain);
        double expected = 3;
        for (std::size_t k = 0; k < chain.size(); ++k) {
            const BoundedSublayer& s = chain[k];
            const double branch = s.step * s.branch_scale * 4 * (s.gamma_max + s.beta_max);
            expected = s.gate_scale * (s.shortcut_scale * expected + branch);
            QCOMPARE(bounds[k + 1], expected);
        }
        // The order matters: a chain that forgot whose scale is whose would not tell.
        const std::vector<BoundedSublayer> other{chain[2], chain[1], chain[0]};
        QVERIFY(bounded_branch_norms(3, 2, 8, other).back() != bounds.back());
    }

    /// [K] Theorem 4 on random Peri-LN branches with gates: a hard bound at every sub-layer; repeating one
    /// branch with γ = 1 from X_0 = 0 attains it for ε = 0.
    void boundsHoldAndAreSharp() {
        const Eigen::Index tokens = 5, width = 12;
        for (int trial = 0; trial < 50; ++trial) {
            MatrixXd x = random_matrix(tokens, width);
            std::uniform_real_distribution<double> uniform(0, 1.3);
            std::vector<BoundedSublayer> sublayers;
            std::vector<MatrixXd> states{x};
            for (int k = 0; k < 20; ++k) {
                const BoundedSublayer s{uniform(generator_), uniform(generator_), uniform(generator_),
                                        uniform(generator_), uniform(generator_), uniform(generator_)};
                const MatrixXd branch =
                    layer_norm(x * random_matrix(width, width), s.gamma_max, s.beta_max, 1e-5);
                x = s.gate_scale * (s.shortcut_scale * x + s.step * s.branch_scale * branch);
                sublayers.push_back(s);
                states.push_back(x);
            }
            const auto r = bounded_branch_norms(states[0].norm(), tokens, width, sublayers);
            for (std::size_t k = 0; k < r.size(); ++k) {
                const MatrixXd& s = states[k];
                const double variance =
                    (s.array() - s.mean()).square().sum() / static_cast<double>(s.size() - 1);
                QVERIFY(s.norm() <= r[k] * (1 + 1e-12));
                QVERIFY(s.cwiseAbs().mean() <= mean_absolute_bound(r[k], tokens, width) * (1 + 1e-12));
                QVERIFY(variance <= variance_bound(r[k], tokens, width) * (1 + 1e-12));
            }
        }
        const MatrixXd branch = layer_norm(random_matrix(tokens, width), 1, 0, 0);
        const auto r = bounded_branch_norms(0, tokens, width, std::vector<BoundedSublayer>(8));
        QVERIFY(std::abs((8 * branch).norm() / r[8] - 1) < 1e-12);
    }

    /// A branch without output norm counts by its own length, for any γ_out and β_out.
    void branchesOfKnownLength() {
        const std::vector<BoundedSublayer> sublayers{{0.5, 1, 7, 7, 1, 1, false, 2}, {1, 3, 1, 0, 1.25, 0.5}};
        const auto r = bounded_branch_norms(10, 4, 9, sublayers);
        QCOMPARE(r[1], 10 + 0.5 * 6 * 2);
        QCOMPARE(r[2], 1.25 * (0.5 * 16 + 3 * 6));
        QVERIFY_EXCEPTION_THROWN(output_norm_bounds_uniform(10, 4, 9, sublayers), InputError);
        const std::vector<BoundedSublayer> bad{{1, 1, 1, 0, 1, 1, false, NAN}};
        QVERIFY_EXCEPTION_THROWN(bounded_branch_norms(1, 2, 2, bad), InputError);
    }

    /// Gates, shortcuts, branch factors and the feed-forward map, which mixes no tokens, by hand.
    void productFormManually() {
        PreNormSublayer attention{0.5, 2, 4, 3, 0}, feed_forward = attention;
        attention.branch_scale = 0.5;
        attention.gate_scale = 1.25;
        attention.shortcut_scale = 2;
        feed_forward.mixes_tokens = false;
        const auto r = pre_norm_bounds(10, 9, 16, std::vector{attention, feed_forward});
        QCOMPARE(r[1], 1.25 * (2 + 0.5 * 0.5 * 3 * 4 * 2 * 3 / 4.0) * 10);
        QCOMPARE(r[2], (1 + 0.5 * 4 * 2 * 3 / 4.0) * r[1]);
    }

    void uniformFormIsLooser() {
        const std::vector<BoundedSublayer> sublayers{{0.1, 1, 2, 0, 1, 1}, {0.1, 1, 1, 0.5, 1, 1}};
        const auto sharp = bounded_branch_norms(3, 2, 8, sublayers);
        const auto loose = output_norm_bounds_uniform(3, 2, 8, sublayers);
        QVERIFY(std::abs(loose[2] - (3 + 2 * 0.1 * 4 * 2.5)) < 1e-14);
        for (std::size_t k = 0; k < sharp.size(); ++k) QVERIFY(sharp[k] <= loose[k]);
        QVERIFY_EXCEPTION_THROWN(
            output_norm_bounds_uniform(3, 2, 8, std::vector<BoundedSublayer>{{1, 1, 1, 0, 1.27, 1}}),
            InputError);
    }

    /// Pre-LN, attention only: the corrected product bounds it; the paper's factor, √d smaller, does not.
    void preNormBoundAndItsErratum() {
        const Eigen::Index context = 6, width = 16;
        const double dt = 0.5;
        MatrixXd x = random_matrix(context, width);
        std::vector<PreNormSublayer> layers;
        double paper = x.norm();
        bool paper_is_violated = false;
        std::vector<double> norms{x.norm()};
        for (int i = 0; i < 10; ++i) {
            const MatrixXd value_output = random_matrix(width, width) / 8;
            PreNormSublayer layer;
            layer.step = dt;
            layer.gamma_max = 1;
            layer.smallest_token_norm = x.rowwise().norm().minCoeff();
            layer.gain = Eigen::JacobiSVD<MatrixXd>(value_output).singularValues()(0);
            MatrixXd normed = x;
            for (Eigen::Index t = 0; t < context; ++t)
                normed.row(t) *= std::sqrt(static_cast<double>(width)) / x.row(t).norm();
            MatrixXd attention = random_matrix(context, context).array().exp();
            attention.array().colwise() /= attention.rowwise().sum().array().eval();
            x += dt * attention * normed * value_output;
            norms.push_back(x.norm());
            paper *=
                1 + dt * std::sqrt(static_cast<double>(context)) * layer.gain / layer.smallest_token_norm;
            paper_is_violated = paper_is_violated || x.norm() > paper;
            layers.push_back(layer);
        }
        const auto bounds = pre_norm_bounds(norms[0], context, width, layers);
        for (std::size_t i = 0; i < bounds.size(); ++i) QVERIFY(norms[i] <= bounds[i] * (1 + 1e-12));

        // A single token that the branch doubles: the factor 1 + ‖x‖/‖x‖ needs the √d.
        const PreNormSublayer aligned{1, 1, 4, 1, 0};
        const auto one = pre_norm_bounds(4, 1, 16, std::vector{aligned});
        QCOMPARE(one[1], 8.0);             // x = 4e, normed = 4e, x + normed = 8e
        QVERIFY(4 * (1 + 1.0 / 4) < 8.0);  // the paper's
        const PreNormSublayer zero{1, 1, 0, 1, 0.25};
        QCOMPARE(pre_norm_bounds(4, 1, 16, std::vector{zero})[1], 4 * (1 + 4 / 2.0));
        QVERIFY_EXCEPTION_THROWN(pre_norm_bounds(4, 1, 16, std::vector{PreNormSublayer{1, 1, 0, 1, 0}}),
                                 InputError);
    }

    /// [G] eq. 16 without gates grows like ℓ²/4, not exponentially; a gate enters squared (erratum).
    void gpasVarianceRecursion() {
        double variance = 1;
        for (int layer = 1; layer < 1024; ++layer) variance = gpas_variance_step(variance, 0);
        QVERIFY(std::abs(variance / (1024.0 * 1024 / 4) - 1) < 0.01);
        QCOMPARE(gpas_variance_step(4, 0.5), 0.25 * 6);
    }

    void badInputIsRejected() {
        const std::vector<BoundedSublayer> negative{{-1, 1, 1, 0, 1, 1}};
        QVERIFY_EXCEPTION_THROWN(bounded_branch_norms(1, 2, 2, negative), InputError);
        QVERIFY_EXCEPTION_THROWN(bounded_branch_norms(NAN, 2, 2, {}), InputError);
        QVERIFY_EXCEPTION_THROWN(bounded_branch_norms(1, 0, 2, {}), InputError);
        QVERIFY_EXCEPTION_THROWN(variance_bound(1, 1, 1), InputError);
        QVERIFY_EXCEPTION_THROWN(gpas_variance_step(-1, 0), InputError);
    }
};

}  // namespace

NORMSCOPE_TEST(GrowthBoundsTest)
#include "growth_bounds_test.moc"
