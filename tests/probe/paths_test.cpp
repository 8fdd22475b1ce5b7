// SPDX-License-Identifier: GPL-3.0-or-later
// The identity path and the remainder against Jacobians by finite differences of the forward pass.
#include "core/probe/paths.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <Eigen/Core>

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Matrix = Eigen::MatrixXd;

constexpr int kTokens = 4, kWidth = 8, kSize = kTokens * kWidth, kDepth = 3;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = kDepth;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    complete(s, 9);
    return s;
}

Batch batch_of() {
    return {2, kTokens, {3, 1, 4, 1, 5, 2, 6, 5}, {}};
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

double top(const Matrix& m) {
    std::vector<double> values(static_cast<std::size_t>(m.rows()));
    singular_values(static_cast<int>(m.rows()), static_cast<int>(m.cols()), m.data(), values.data());
    return values.front();
}

/// Hidden state `to` from hidden state 0 as a function: its Jacobian by central differences.
std::vector<Matrix> differences(const Transformer<double>& model, const double* start, ThreadPool& pool) {
    std::vector<Matrix> of_layer(kDepth, Matrix(kSize, kSize));
    constexpr double h = 1e-5;
    for (int c = 0; c < kSize; ++c) {
        std::vector<double> at(start, start + kSize);
        Tape<double> up, down;
        at[static_cast<std::size_t>(c)] += h;
        model.forward_layers(at.data(), kTokens, up, pool);
        at[static_cast<std::size_t>(c)] -= 2 * h;
        model.forward_layers(at.data(), kTokens, down, pool);
        for (int l = 0; l < kDepth; ++l)
            for (int r = 0; r < kSize; ++r)
                of_layer[static_cast<std::size_t>(l)](r, c) =
                    (up.hidden[static_cast<std::size_t>(2 * l + 2)][r] -
                     down.hidden[static_cast<std::size_t>(2 * l + 2)][r]) /
                    (2 * h);
    }
    return of_layer;
}

}  // namespace

class PathsTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

  private Q_SLOTS:
    void againstFiniteDifferences_data() {
        QTest::addColumn<int>("scheme");
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri, Scheme::None})
            QTest::addRow("%s", word_of(scheme)) << static_cast<int>(scheme);
    }
    void againstFiniteDifferences() {
        QFETCH(int, scheme);
        const Transformer<double> model(stack_of(static_cast<Scheme>(scheme)), 3);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = run_probe(*find_probe("paths"), input);
        const std::vector<Matrix> whole = differences(model, input.tape().hidden[0], pool_);
        Matrix sum = Matrix::Zero(kSize, kSize);
        for (int m = 0; m < kDepth; ++m) {
            const auto at = static_cast<std::size_t>(m);
            // The layer alone, from the hidden state before it.
            const Transformer<double> rest(model, m, 1, false);
            std::vector<Matrix> one(1, Matrix(kSize, kSize));
            const double* start = input.tape().hidden[2 * at];
            for (int c = 0; c < kSize; ++c) {
                constexpr double h = 1e-5;
                std::vector<double> x(start, start + kSize);
                Tape<double> up, down;
                x[static_cast<std::size_t>(c)] += h;
                rest.forward_layers(x.data(), kTokens, up, pool_);
                x[static_cast<std::size_t>(c)] -= 2 * h;
                rest.forward_layers(x.data(), kTokens, down, pool_);
                for (int r = 0; r < kSize; ++r)
                    one[0](r, c) = (up.hidden[2][r] - down.hidden[2][r]) / (2 * h);
            }
            const Matrix identity = Matrix::Identity(kSize, kSize);
            sum += one[0] - identity;
            const double expected[] = {top(whole[at]), top(sum), top(whole[at] - identity - sum)};
            const char* names[] = {"whole", "first_order", "remainder"};
            for (int i = 0; i < 3; ++i) {
                const double value = values(result, names[i])[at];
                QVERIFY2(
                    std::abs(value - expected[i]) < 1e-7 * expected[0],
                    qPrintable(QString("%1 %2: %3, %4").arg(names[i]).arg(m).arg(value).arg(expected[i])));
            }
        }
        QCOMPARE(values(result, "remainder")[0], 0.0);  // of one layer there is none
        QCOMPARE(result.labels.at("tokens"), std::vector<std::string>{"first 4 of sequence 0"});
    }

    /// With branches of size t the first order is t, the remainder t²: its share falls with t.
    void theRemainderIsOfSecondOrder() {
        double last = 0;
        for (const double step : {1e-2, 1e-3}) {
            StackSpec spec = stack_of(Scheme::Pre);
            spec.residual_step = step;
            const Transformer<double> model(spec, 3);
            const Batch batch = batch_of();
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult result = probe_paths(input);
            const double ratio =
                values(result, "remainder").back() / std::pow(values(result, "first_order").back(), 2);
            if (last > 0) QVERIFY(std::abs(ratio / last - 1) < 0.05);
            last = ratio;
        }
    }

    void wideStacksAreCut() {
        StackSpec spec = stack_of(Scheme::Pre);
        spec.depth = 1;
        spec.d_model = 512;
        spec.d_ff = 16;
        const Transformer<float> model(spec, 3);
        const Batch batch = batch_of();
        ProbeInput<float> input(model, batch, pool_, 0);
        QCOMPARE(probe_paths(input).labels.at("tokens"), std::vector<std::string>{"first 2 of sequence 0"});
        spec.d_model = 1026;
        const Transformer<float> wider(spec, 3);
        ProbeInput<float> cut(wider, batch, pool_, 0);
        const ProbeResult none = probe_paths(cut);
        QVERIFY(std::isnan(values(none, "whole")[0]));
        QCOMPARE(none.labels.at("tokens"), std::vector<std::string>{"none: d_model above 1,024"});
    }
};

NORMSCOPE_TEST(PathsTest)
#include "paths_test.moc"
