// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/norm_jacobian.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <Eigen/Dense>

#include <QTest>
#include <cmath>
#include <random>
#include <vector>

using namespace normscope;

namespace {

using Vector = std::vector<double>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Vector random_vector(std::size_t size, std::mt19937_64& generator, double mean = 0) {
    std::normal_distribution<double> normal(mean, 1);
    Vector v(size);
    for (double& value : v) value = normal(generator);
    return v;
}

NormJacobian make(bool layer_norm, const Vector& x, const Vector& gamma, double eps) {
    return layer_norm ? NormJacobian::layer_norm(x, gamma, eps) : NormJacobian::rms_norm(x, gamma, eps);
}

/// The norm itself, written down independently.
Vector normalise(bool layer_norm, const Vector& x, const Vector& gamma, double eps) {
    const double d = static_cast<double>(x.size());
    double mean = 0;
    if (layer_norm)
        for (const double value : x) mean += value / d;
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / d;
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = gamma[i] * (x[i] - mean) / std::sqrt(variance + eps);
    return y;
}

Matrix dense(const NormJacobian& jacobian) {
    const auto d = static_cast<Eigen::Index>(jacobian.width());
    const Vector data = jacobian.dense();
    return Eigen::Map<const Matrix>(data.data(), d, d);
}

Eigen::VectorXd singular_values(const Matrix& matrix) {
    return Eigen::JacobiSVD<Matrix>(matrix).singularValues();
}

Eigen::Map<const Eigen::VectorXd> as_eigen(const Vector& v) {
    return {v.data(), static_cast<Eigen::Index>(v.size())};
}

Matrix projector(const std::vector<Vector>& basis, Eigen::Index d) {
    Matrix p = Matrix::Zero(d, d);
    for (const Vector& v : basis) p += as_eigen(v) * as_eigen(v).transpose();
    return p;
}

/// The orthogonal projector on the kernel of a matrix, from its singular value decomposition.
Matrix kernel_projector(const Matrix& matrix) {
    const Eigen::JacobiSVD<Matrix> svd(matrix, Eigen::ComputeFullV);
    Matrix p = Matrix::Zero(matrix.cols(), matrix.cols());
    for (Eigen::Index i = 0; i < matrix.cols(); ++i)
        if (svd.singularValues()(i) < 1e-11 * svd.singularValues()(0))
            p += svd.matrixV().col(i) * svd.matrixV().col(i).transpose();
    return p;
}

class NormJacobianTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void matchesFiniteDifferences() {
        std::mt19937_64 generator(1);
        constexpr double h = 1e-5;
        for (const bool layer_norm : {true, false})
            for (const double eps : {0.0, 1e-5, 0.1}) {
                const Vector x = random_vector(9, generator, 0.7);
                const Vector gamma = random_vector(9, generator, 1);
                const Matrix exact = dense(make(layer_norm, x, gamma, eps));
                for (std::size_t column = 0; column < x.size(); ++column) {
                    Vector up = x;
                    Vector down = x;
                    up[column] += h;
                    down[column] -= h;
                    const Vector y_up = normalise(layer_norm, up, gamma, eps);
                    const Vector y_down = normalise(layer_norm, down, gamma, eps);
                    for (std::size_t row = 0; row < x.size(); ++row) {
                        const double difference = (y_up[row] - y_down[row]) / (2 * h);
                        const double closed =
                            exact(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column));
                        QVERIFY(std::abs(closed - difference) < 1e-8);
                    }
                }
            }
    }

    void singularValuesAreClosedForm() {
        std::mt19937_64 generator(2);
        for (const bool layer_norm : {true, false})
            for (const double eps : {0.0, 1e-5, 0.1})
                for (const std::size_t d : {1UL, 2UL, 3UL, 24UL}) {
                    if (layer_norm && d == 1 && eps == 0) continue;  // undefined
                    const NormJacobian jacobian = make(layer_norm, random_vector(d, generator, 2), {}, eps);
                    const Vector closed = jacobian.singular_values();
                    const Eigen::VectorXd svd = singular_values(dense(jacobian));
                    for (std::size_t i = 0; i < d; ++i)
                        QVERIFY(std::abs(closed[i] - svd(static_cast<Eigen::Index>(i))) <
                                1e-12 * jacobian.gain());
                }
    }

    /// rank d − 2 (RMSNorm d − 1) to 1e-12, and with ε the direction ẑ keeps (1/σ_ε)·ε/(var + ε).
    void rankAndEpsilonEffect() {
        std::mt19937_64 generator(3);
        const std::size_t d = 32;
        const Vector x = random_vector(d, generator, 5);
        for (const bool layer_norm : {true, false}) {
            const NormJacobian jacobian = make(layer_norm, x, {}, 0);
            const std::size_t rank = layer_norm ? d - 2 : d - 1;
            QCOMPARE(jacobian.rank(), rank);
            const Eigen::VectorXd svd = singular_values(dense(jacobian)) / jacobian.gain();
            QVERIFY(std::abs(svd(static_cast<Eigen::Index>(rank) - 1) - 1) < 1e-12);
            QVERIFY(svd(static_cast<Eigen::Index>(rank)) < 1e-12);
            for (const Vector& v : jacobian.right_null_space())
                QVERIFY((dense(jacobian) * as_eigen(v)).norm() < 1e-12 * jacobian.gain());

            const NormJacobian with_eps = make(layer_norm, x, {}, 0.25);
            const double variance = 1 / (jacobian.gain() * jacobian.gain());
            QVERIFY(std::abs(with_eps.epsilon_effect() - 0.25 / (variance + 0.25)) < 1e-14);
            const Vector normal = with_eps.right_null_space().back();
            const double kept = (dense(with_eps) * as_eigen(normal)).norm();
            QVERIFY(std::abs(kept - with_eps.gain() * with_eps.epsilon_effect()) < 1e-14);
        }
    }

    /// γ belongs on the left (erratum of [N] Remark 1.2): ker J is unchanged, ker Jᵀ becomes diag(γ)⁻¹·span.
    void gammaMovesOnlyTheLeftNullSpace() {
        std::mt19937_64 generator(4);
        const std::size_t d = 16;
        const Vector x = random_vector(d, generator, 1);
        const Vector gamma = random_vector(d, generator, 1.5);
        for (const bool layer_norm : {true, false}) {
            const NormJacobian plain = make(layer_norm, x, {}, 0);
            const NormJacobian scaled = make(layer_norm, x, gamma, 0);
            QVERIFY((kernel_projector(dense(scaled)) - kernel_projector(dense(plain))).norm() < 1e-10);
            const Matrix left = projector(scaled.left_null_space(), d);
            QVERIFY((kernel_projector(dense(scaled).transpose()) - left).norm() < 1e-10);
            QVERIFY((projector(plain.left_null_space(), d) - left).norm() > 0.1);
            QVERIFY((kernel_projector(dense(plain)) - projector(plain.right_null_space(), d)).norm() < 1e-10);
        }
    }

    /// Channels with γ = 0 join ker Jᵀ; with two of them only in exceptional cases anything of the span
    /// remains.
    void deadAndWeakChannels() {
        std::mt19937_64 generator(5);
        const std::size_t d = 8;
        const Vector x = random_vector(d, generator, 1);
        for (const bool layer_norm : {true, false})
            for (const Vector& gamma : {Vector{1, 0, 2, 1, 1, -1, 3, 1}, Vector{1, 0, 2, 0, 1, -1, 3, 1},
                                        Vector(d, 0.0), Vector{1, 1e-9, 2, 1e-4, 1, -1, 3, 1}}) {
                const NormJacobian jacobian = make(layer_norm, x, gamma, 0);
                const auto basis = jacobian.left_null_space();
                const Matrix transposed = dense(jacobian).transpose();
                for (const Vector& v : basis) QVERIFY((transposed * as_eigen(v)).norm() < 1e-12);
                // Orthonormal, and as many as the rank leaves.
                const Matrix p = projector(basis, d);
                QVERIFY((p * p - p).norm() < 1e-12);
                const Eigen::VectorXd svd = singular_values(transposed);
                const auto rank = (svd.array() > 1e-13).count();
                QCOMPARE(static_cast<Eigen::Index>(basis.size()), static_cast<Eigen::Index>(d) - rank);
                const Vector g = random_vector(d, generator);
                const ErasedEnergy energy = jacobian.erased_backward(g);
                QVERIFY(std::abs(energy.erased - (p * as_eigen(g)).squaredNorm()) < 1e-12);
                QVERIFY(std::abs(energy.total - as_eigen(g).squaredNorm()) < 1e-12);
            }
    }

    /// A random gradient loses 2/d on average (RMSNorm 1/d), for any γ; the sum over tokens is what a site
    /// erases.
    void randomGradientsLoseTwoOfD() {
        std::mt19937_64 generator(6);
        const std::size_t d = 20;
        for (const bool layer_norm : {true, false}) {
            ErasedEnergy backward;
            ErasedEnergy forward;
            for (int token = 0; token < 20'000; ++token) {
                const NormJacobian jacobian =
                    make(layer_norm, random_vector(d, generator, 1), random_vector(d, generator, 2), 1e-5);
                backward += jacobian.erased_backward(random_vector(d, generator));
                forward += jacobian.erased_forward(random_vector(d, generator));
            }
            const double expected = (layer_norm ? 2.0 : 1.0) / static_cast<double>(d);
            QVERIFY2(std::abs(backward.share() / expected - 1) < 0.03,
                     qPrintable(QString::number(backward.share())));
            QVERIFY2(std::abs(forward.share() / expected - 1) < 0.03,
                     qPrintable(QString::number(forward.share())));
        }
    }

    void projectionsOfKnownVectors() {
        std::mt19937_64 generator(7);
        const Vector x = random_vector(12, generator, 3);
        const Vector gamma = random_vector(12, generator, 2);
        const NormJacobian jacobian = NormJacobian::layer_norm(x, gamma, 1e-5);
        QVERIFY(std::abs(jacobian.erased_forward(x).share() - 1) < 1e-14);  // x = mean·1 + σẑ
        QVERIFY(std::abs(jacobian.erased_forward(Vector(12, -2.0)).share() - 1) < 1e-14);
        Vector g(12);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = (2 - 3 * x[i]) / gamma[i];
        QVERIFY(std::abs(jacobian.erased_backward(g).share() - 1) < 1e-13);
        QCOMPARE(jacobian.erased_backward(Vector(12, 0.0)).share(), 0.0);
    }

    void constantTokens() {
        const Vector x(10, 0.1);
        const NormJacobian jacobian = NormJacobian::layer_norm(x, {}, 1e-5);
        QCOMPARE(jacobian.epsilon_effect(), 1.0);
        QCOMPARE(jacobian.rank(), std::size_t{9});
        QCOMPARE(jacobian.left_null_space().size(), std::size_t{1});
        QVERIFY(std::abs(jacobian.gain() - 1 / std::sqrt(1e-5)) < 1e-10);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm(x, {}, 0), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::rms_norm(Vector(4, 0.0), {}, 0), InputError);
    }

    /// The closed forms against projections on the orthonormal bases, at random tokens and at edge cases:
    /// weak and dead channels, an outlier, a large mean, a constant token, a dead channel that the token
    /// keeps reachable.
    void closedFormsEqualTheBases() {
        std::mt19937_64 generator(8);
        for (const std::size_t d : {2UL, 3UL, 8UL, 64UL})
            for (const bool layer_norm : {true, false})
                for (int kind = 0; kind < 8; ++kind) {
                    Vector gamma = random_vector(d, generator, kind % 2 == 0 ? 1 : 0);
                    Vector x = random_vector(d, generator, kind == 3 ? 1e4 : 0.3);
                    if (kind == 1) gamma[d / 2] = 1e-9;
                    if (kind == 2) gamma[0] = 0;
                    if (kind == 4) x[1] = 1e6;
                    if (kind == 5) gamma[0] = gamma[1] = 0;
                    if (kind == 6) gamma[0] = gamma[1] = 0, x[0] = x[1] = 0;
                    if (kind == 7) std::fill(x.begin(), x.end(), 0.7);
                    const Vector g = random_vector(d, generator), change = random_vector(d, generator);
                    const NormJacobian jacobian = make(layer_norm, x, gamma, 1e-5);
                    const NormNullSpace space(layer_norm, d, gamma);
                    const auto n = static_cast<Eigen::Index>(d);
                    const auto token = space.token(x.data(), g.data());
                    const double total = as_eigen(g).squaredNorm();
                    const double erased =
                        (projector(jacobian.left_null_space(), n) * as_eigen(g)).squaredNorm();
                    // A mean of 1e4 leaves twelve digits of the token itself.
                    const double slack = kind == 3 || kind == 4 ? 1e-9 : 1e-12;
                    QVERIFY2(std::abs(token.backward.erased - erased) < slack * total,
                             qPrintable(QString("d %1 kind %2: %3 %4")
                                            .arg(d)
                                            .arg(kind)
                                            .arg(token.backward.erased)
                                            .arg(erased)));
                    QVERIFY(std::abs(token.backward.total - total) < 1e-13 * total);
                    QVERIFY(std::abs(token.variance - jacobian.variance()) <= slack * jacobian.variance());
                    const ErasedEnergy forward = space.erased_forward(x.data(), change.data());
                    const double lost =
                        (projector(jacobian.right_null_space(), n) * as_eigen(change)).squaredNorm();
                    QVERIFY(std::abs(forward.erased - lost) < slack * forward.total);
                    const std::vector<float> narrow(x.begin(), x.end()), gradient(g.begin(), g.end());
                    const Vector wide(narrow.begin(), narrow.end()), same(gradient.begin(), gradient.end());
                    QCOMPARE(space.token(narrow.data(), gradient.data()).backward.erased,
                             space.token(wide.data(), same.data()).backward.erased);
                }
        const NormNullSpace space(true, 3, {});
        const Vector fine{1, 2, 4}, bad{1, NAN, 4};
        QVERIFY(std::isnan(space.token(bad.data(), fine.data()).backward.erased));
        QVERIFY(std::isnan(space.token(fine.data(), bad.data()).backward.erased));
        QVERIFY(std::isnan(space.erased_forward(bad.data(), fine.data()).erased));
    }

    void badInputIsRejected() {
        const Vector x{1, 2, 3};
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm({}, {}, 1e-5), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm(x, Vector{1, 1}, 1e-5), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm(Vector{1, NAN}, {}, 1e-5), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::rms_norm(x, {}, -1), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm(x, {}, 0).erased_backward(Vector{1}), InputError);
        QVERIFY_EXCEPTION_THROWN(NormJacobian::layer_norm(x, {}, 0).erased_forward(Vector{1}), InputError);
    }
};

}  // namespace

NORMSCOPE_TEST(NormJacobianTest)
#include "norm_jacobian_test.moc"
