// SPDX-License-Identifier: GPL-3.0-or-later
// Norms of weight matrices against a dense decomposition, and the gates of GPAS.
#include "core/probe/weights.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/probe/bounds/matrix_norms.h"
#include "core/probe/gates.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <Eigen/Core>

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix random_matrix(int rows, int columns, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Matrix m(rows, columns);
    for (double& v : m.reshaped()) v = normal(generator);
    return m;
}

double largest_singular_value(const Matrix& m) {
    std::vector<double> values(static_cast<std::size_t>(std::min(m.rows(), m.cols())));
    singular_values(static_cast<int>(m.rows()), static_cast<int>(m.cols()), m.data(), values.data());
    return values.front();
}

StackSpec stack_of(Activation activation) {
    StackSpec s;
    s.depth = 3;
    s.d_model = 16;
    s.heads = 4;
    s.kv_heads = 2;
    s.d_ff = 40;
    s.context = 6;
    s.activation = activation;
    complete(s, 9);
    return s;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

const TensorInfo& tensor(const ParameterTable& table, const std::string& name) {
    const TensorInfo* found = table.find(name);
    if (!found) throw std::runtime_error(name);
    return *found;
}

const Batch kNoBatch{1, 1, {0}, {0}};

}  // namespace

class WeightsTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

  private Q_SLOTS:
    /// Dense and searched sizes, both orientations, a nearly multiple largest value.
    void spectralNormsAgainstASingularValueDecomposition() {
        const std::pair<int, int> shapes[] = {{7, 7}, {64, 16}, {16, 64}, {192, 200}, {200, 260}, {320, 210}};
        unsigned seed = 0;
        for (const auto& [rows, columns] : shapes) {
            Matrix m = random_matrix(rows, columns, ++seed);
            for (const double scale : {1.0, 1e-160, 1e160}) {
                const Matrix scaled = scale * m;
                const MatrixNorms norms = matrix_norms(rows, columns, scaled.data(), columns);
                const double truth = scale * largest_singular_value(m);
                QVERIFY(std::abs(norms.spectral / truth - 1) < 1e-7);
                QVERIFY(std::abs(norms.spectral - truth) <= norms.spectral_error + 1e-14 * truth);
                QVERIFY(std::abs(norms.frobenius / (scale * m.norm()) - 1) < 1e-13);
            }
        }
        Matrix close = Matrix::Zero(230, 230);
        for (int i = 0; i < 230; ++i) close(i, i) = i < 2 ? 1 - 1e-9 * i : 0.9;
        QVERIFY(std::abs(matrix_norms(230, 230, close.data(), 230).spectral - 1) < 1e-7);
    }

    void partsZerosAndWhatIsNotFinite() {
        Matrix m = random_matrix(8, 12, 3);
        const Matrix part = m.leftCols(5);
        QVERIFY(std::abs(matrix_norms(8, 5, m.data(), 12).spectral / largest_singular_value(part) - 1) <
                1e-13);
        const Matrix zero = Matrix::Zero(4, 4);
        QCOMPARE(matrix_norms(4, 4, zero.data(), 4).upper(), 0.0);
        QVERIFY(std::isnan(matrix_norms(4, 4, zero.data(), 4).stable_rank()));
        m(3, 3) = std::numeric_limits<double>::infinity();
        QVERIFY(std::isnan(matrix_norms(8, 12, m.data(), 12).spectral));
    }

    void everyMatrixOfEveryLayer_data() {
        QTest::addColumn<bool>("gated");
        QTest::newRow("gelu") << false;
        QTest::newRow("swiglu") << true;
    }
    void everyMatrixOfEveryLayer() {
        QFETCH(bool, gated);
        const StackSpec spec = stack_of(gated ? Activation::SwiGlu : Activation::GeluTanh);
        const Transformer<double> model(spec, 5);
        ProbeInput<double> input(model, kNoBatch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("weights"), input);
        const std::vector<std::string> names =
            gated ? std::vector<std::string>{"wq", "wk", "wv", "wo", "w_gate", "w_up", "w_down"}
                  : std::vector<std::string>{"wq", "wk", "wv", "wo", "w1", "w2"};
        QVERIFY(result.labels.at("matrices") == names);
        for (std::size_t l = 0; l < 3; ++l)
            for (std::size_t m = 0; m < names.size(); ++m) {
                const TensorInfo& t = tensor(
                    model.table(), "blocks." + std::to_string(l) + (m < 4 ? ".attn." : ".ffn.") + names[m]);
                const Matrix w =
                    Eigen::Map<const Matrix>(model.parameters().data() + t.offset, t.shape[0], t.shape[1]);
                const double top = largest_singular_value(w), at_top = top * top;
                const std::size_t at = l * names.size() + m;
                QVERIFY(std::abs(values(result, "spectral")[at] / top - 1) < 1e-12);
                QVERIFY(std::abs(values(result, "frobenius")[at] / w.norm() - 1) < 1e-12);
                QVERIFY(std::abs(values(result, "stable_rank")[at] / (w.squaredNorm() / at_top) - 1) < 1e-12);
            }
        double squares = 0;  // of all parameters in the layers, once each
        for (const double v : values(result, "sublayer_norm")) squares += v * v;
        double expected = 0;
        for (const TensorInfo& t : model.table().tensors())
            for (std::size_t i = 0; t.layer >= 0 && i < t.count; ++i)
                expected += std::pow(model.parameters()[t.offset + i], 2);
        QVERIFY(std::abs(squares / expected - 1) < 1e-13);
    }

    /// α, act(α) and factors against 1 − α·σ(α); α < 0 enlarges, at most 1.278 times, against [G] §3.1.
    void gatesAreReadWhereTheyAre() {
        for (const Scheme scheme : {Scheme::Pre, Scheme::DeepNorm})
            for (const Layout layout : {Layout::Serial, Layout::Parallel}) {
                StackSpec spec = stack_of(Activation::GeluTanh);
                spec.scheme = scheme;
                spec.layout = layout;
                spec.gpas.enabled = true;
                Transformer<double> model(spec, 5);
                const double alphas[] = {0.7, -0.1, -1.278};
                for (int l = 0; l < 3; ++l)
                    model
                        .parameters()[tensor(model.table(), "blocks." + std::to_string(l) + ".gate").offset] =
                        alphas[l];
                ProbeInput<double> input(model, kNoBatch, pool_, 0);
                const ProbeResult result = run_probe(*find_probe("gates"), input);
                const bool output = scheme == Scheme::Pre;
                QCOMPARE(result.labels.at("site"), std::vector<std::string>{output ? "output" : "shortcut"});
                for (std::size_t l = 0; l < 3; ++l) {
                    const double act = alphas[l] / (1 + std::exp(-alphas[l]));
                    QCOMPARE(values(result, "alpha")[l], alphas[l]);
                    QVERIFY(std::abs(values(result, "act")[l] - act) < 1e-15);
                    // A parallel layer has one output, which is the FFN's, and one shortcut, attention's.
                    const bool parallel = layout == Layout::Parallel;
                    const double of_attention = parallel && output ? 1 : 1 - act,
                                 of_ffn = parallel && !output ? 1 : 1 - act;
                    QVERIFY(std::abs(values(result, "factor")[2 * l] - of_attention) < 1e-15);
                    QVERIFY(std::abs(values(result, "factor")[2 * l + 1] - of_ffn) < 1e-15);
                }
                const double most = std::max(values(result, "factor")[4], values(result, "factor")[5]);
                QVERIFY(most > 1.278 && most < 1.2785);
            }
    }

    void noGatesWithoutGpas() {
        const Transformer<float> model(stack_of(Activation::GeluTanh), 5);
        ProbeInput<float> input(model, kNoBatch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("gates"), input);
        for (const NamedArray& array : result.arrays)
            for (const double v : array.data) QVERIFY(std::isnan(v));
        QCOMPARE(result.labels.at("site"), std::vector<std::string>{"none"});
    }
};

NORMSCOPE_TEST(WeightsTest)
#include "weights_test.moc"
