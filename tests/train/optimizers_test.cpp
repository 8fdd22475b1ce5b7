// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/optimizers.h"

#include "core/backend/cpu/linear_algebra/newton_schulz.h"
#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <Eigen/SVD>

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

StackSpec tiny_stack() {
    StackSpec s;
    s.depth = 1;
    s.d_model = 6;
    s.heads = 2;
    s.d_ff = 15;
    s.context = 3;
    complete(s, 5);
    return s;
}

Matrix normals(int rows, int columns, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

double gradient_of(int step, int i) {
    return ((3 * step + 5 * i) % 7 - 3) / 4.0;
}

/// Muon as its formulas read, on whole matrices: no transposing, no buffers.
struct PlainMuon {
    Matrix m;
    static Matrix orthogonal(Matrix x) {
        x /= x.norm() + 1e-7;
        for (int i = 0; i < 5; ++i) {
            const Matrix gram = x.transpose() * x;
            x = 3.4445 * x + x * (-4.7750 * gram + 2.0315 * gram * gram);
        }
        return x;
    }
    void step(Matrix& p, const Matrix& g, double lr, double wd) {
        m = 0.95 * m + 0.05 * g;
        const Matrix direction = orthogonal(0.95 * m + 0.05 * g);
        p = p * (1 - lr * wd) -
            lr * std::sqrt(std::max(1.0, double(p.rows()) / double(p.cols()))) * direction;
    }
};

}  // namespace

class OptimizersTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void againstPyTorch_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QList<double>>("first");
        QTest::addColumn<QList<double>>("fourth");
        const QList<double> adamw1{0.50949999986666672, -1.2587499998, 1.998};
        const QList<double> adamw4{0.5145447193657543, -1.2531390988282793, 1.975783937686191};
        const QList<double> adam1{0.50999999985714284, -1.2599999997333333, 1.9900000005};
        const QList<double> adam4{0.51425146428787871, -1.2509136138806454, 1.9674963708654898};
        const QList<double> sgd1{0.507, -1.25375, 1.998};
        const QList<double> sgd4{0.50946472939300003, -1.2395724026212498, 1.9613806391019999};
        const auto row = [](const char* name, OptimizerKind kind, const char* tensor,
                            const QList<double>& first, const QList<double>& fourth) {
            QTest::addRow("%s", name) << static_cast<int>(kind) << QString(tensor) << first << fourth;
        };
        row("adamw", OptimizerKind::AdamW, "tok_emb", adamw1, adamw4);
        row("adam", OptimizerKind::Adam, "tok_emb", adam1, adam4);
        row("adam decays vectors too", OptimizerKind::Adam, "final_norm.weight", adam1, adam4);
        row("sgd", OptimizerKind::Sgd, "tok_emb", sgd1, sgd4);
        row("sgd decays vectors too", OptimizerKind::Sgd, "final_norm.weight", sgd1, sgd4);
        row("muon leaves embeddings to adamw", OptimizerKind::Muon, "tok_emb", adamw1, adamw4);
        row("muon leaves the head to adamw", OptimizerKind::Muon, "head.weight", adamw1, adamw4);
    }
    /// torch.optim 1.13 in float64, lr 0.01, weight decay 0.1, betas 0.9 (momentum 0.9) and 0.95, from
    /// p = (0.5, −1.25, 2), on the gradients of gradient_of(): p after the first and after the fourth step.
    void againstPyTorch() {
        QFETCH(int, kind);
        QFETCH(QString, tensor);
        QFETCH(QList<double>, first);
        QFETCH(QList<double>, fourth);
        OptimizerSpec spec;
        spec.kind = static_cast<OptimizerKind>(kind);
        const ParameterTable table(tiny_stack());
        const TensorInfo* at = table.find(tensor.toStdString());
        QVERIFY(at && at->count >= 3);
        Optimizer<double> optimizer(table, spec.kind);
        std::vector<double> p(table.size(), 0.0), g(table.size(), 0.0);
        const double start[] = {0.5, -1.25, 2.0};
        std::copy(start, start + 3, p.begin() + static_cast<std::ptrdiff_t>(at->offset));
        ThreadPool pool(2);
        for (int t = 0; t < 4; ++t) {
            // Halved by the clipping factor.
            for (int i = 0; i < 3; ++i) g[at->offset + static_cast<std::size_t>(i)] = 2 * gradient_of(t, i);
            optimizer.step(t + 1, spec, 0.01, 0.5, g.data(), p.data(), pool);
            if (t == 0 || t == 3)
                for (int i = 0; i < 3; ++i) {
                    const double wanted = (t == 0 ? first : fourth)[i];
                    QVERIFY(std::abs(p[at->offset + static_cast<std::size_t>(i)] - wanted) < 1e-14);
                }
        }
    }

    /// Vectors do not decay under adamw, nor under muon.
    void decoupledDecayIsForMatrices() {
        for (OptimizerKind kind : {OptimizerKind::AdamW, OptimizerKind::Muon}) {
            const ParameterTable table(tiny_stack());
            OptimizerSpec spec;
            spec.kind = kind;
            std::vector<double> p(table.size(), 1.0);
            const std::vector<double> g(table.size(), 0.0);
            ThreadPool pool(1);
            Optimizer<double>(table, kind).step(1, spec, 0.01, 1, g.data(), p.data(), pool);
            for (const TensorInfo& t : table.tensors())
                for (std::size_t i = 0; i < t.count; ++i)
                    QCOMPARE(p[t.offset + i], t.shape.size() >= 2 ? 1 - 0.01 * 0.1 : 1.0);
        }
    }

    void muonAgainstItsFormulas_data() {
        QTest::addColumn<QString>("tensor");
        QTest::newRow("tall") << "blocks.0.ffn.w1";
        QTest::newRow("wide") << "blocks.0.ffn.w2";
        QTest::newRow("square") << "blocks.0.attn.wk";
    }
    void muonAgainstItsFormulas() {
        QFETCH(QString, tensor);
        const ParameterTable table(tiny_stack());
        const TensorInfo& at = *table.find(tensor.toStdString());
        const int rows = at.shape[0], columns = at.shape[1];
        OptimizerSpec spec;
        spec.kind = OptimizerKind::Muon;
        Optimizer<double> optimizer(table, spec.kind);
        std::vector<double> p(table.size(), 0.0), g(table.size(), 0.0);
        Eigen::Map<Matrix> mine(p.data() + at.offset, rows, columns),
            slope(g.data() + at.offset, rows, columns);
        mine = normals(rows, columns, 1);
        Matrix plain = mine;
        PlainMuon muon{Matrix::Zero(rows, columns)};
        ThreadPool pool(2);
        for (unsigned t = 0; t < 4; ++t) {
            slope = normals(rows, columns, 10 + t);
            optimizer.step(t + 1, spec, 0.02, 0.5, g.data(), p.data(), pool);
            muon.step(plain, 0.5 * Matrix(slope), 0.02, spec.weight_decay);
            QVERIFY2((mine - plain).norm() <= 1e-13 * plain.norm(),
                     qPrintable(QString::number((mine - plain).norm())));
        }
        for (const TensorInfo& t : table.tensors())  // what had no gradient and no weight stays
            if (t.name != at.name)
                for (std::size_t i = 0; i < t.count; ++i) QCOMPARE(p[t.offset + i], 0.0);
    }

    /// Every singular value comes near 1 (the five rounds end in about 0.68 … 1.14), and the singular vectors
    /// stay: the product with the original's transpose is symmetric and positive.
    void theDirectionIsOrthogonal() {
        constexpr int kShapes[][2] = {{12, 40}, {40, 12}, {64, 256}, {1, 7}, {7, 1}};
        for (const auto& [rows, columns] : kShapes) {
            const Matrix start = normals(rows, columns, 5);
            std::vector<double> x(start.data(), start.data() + start.size());
            std::vector<float> single(x.begin(), x.end());
            orthogonalise(rows, columns, x);
            orthogonalise(rows, columns, single);
            const Matrix result = Eigen::Map<Matrix>(x.data(), rows, columns);
            const auto values = Eigen::JacobiSVD<Matrix>(result).singularValues();
            QVERIFY2(values.maxCoeff() < 1.2 && values.minCoeff() > 0.67,
                     qPrintable(QString("%1 × %2: %3 … %4")
                                    .arg(rows)
                                    .arg(columns)
                                    .arg(values.minCoeff())
                                    .arg(values.maxCoeff())));
            const Matrix product =
                rows <= columns ? Matrix(result * start.transpose()) : Matrix(start.transpose() * result);
            QVERIFY((product - product.transpose()).norm() < 1e-10 * product.norm());
            QVERIFY(product.trace() > 0);
            for (std::size_t i = 0; i < x.size(); ++i)
                QVERIFY(std::abs(static_cast<double>(single[i]) - x[i]) < 1e-4);
        }
        std::vector<double> zero(12, 0.0);
        orthogonalise(3, 4, zero);
        QCOMPARE(zero, std::vector<double>(12, 0.0));
    }

    void momentsAreThoseThatTheKindNeeds() {
        const ParameterTable table(tiny_stack());
        Optimizer<float> sgd(table, OptimizerKind::Sgd), adam(table, OptimizerKind::Adam);
        QCOMPARE(sgd.moment1().size(), table.size());
        QVERIFY(sgd.moment2().empty());
        QVERIFY_EXCEPTION_THROWN(adam.set_moments(sgd.moment1(), sgd.moment2()), InputError);
        adam.set_moments(adam.moment1(), adam.moment2());
    }

    void clipFactorIsPyTorchs() {
        QCOMPARE(clip_factor(0.5, 1), 1.0);
        QCOMPARE(clip_factor(4, 1), 1 / (4 + 1e-6));
        QCOMPARE(clip_factor(4, 0), 1.0);
    }
};

NORMSCOPE_TEST(OptimizersTest)
#include "optimizers_test.moc"
