// SPDX-License-Identifier: GPL-3.0-or-later
// The tangent pass (JVP) and the pull-back (VJP) are each other's transpose, and the tangent is the
// derivative of the forward map: for every scheme and norm, causal or not, with GPAS under both of its
// Jacobians.
#include "core/model/transformer.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Vector = std::vector<double>;

struct Setup {
    Scheme scheme;
    NormKind norm;
    bool causal, gpas;
};

StackSpec stack_of(const Setup& setup) {
    StackSpec s;
    s.depth = 2;
    s.d_model = 6;
    s.heads = 2;
    s.d_ff = 9;
    s.context = 5;
    s.scheme = setup.scheme;
    s.norm.kind = setup.norm;
    s.causal = setup.causal;
    s.gpas.enabled = setup.gpas;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    complete(s, 11);
    return s;
}

Batch batch_of(int sequences) {
    Batch batch{sequences, 5, {}, {}};
    for (int i = 0; i < 5 * sequences; ++i) batch.tokens.push_back((7 * i + 3) % 11);
    return batch;
}

double dot(const Vector& a, const double* b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

double norm(const Vector& a) {
    return std::sqrt(dot(a, a.data()));
}

}  // namespace

class JacobianProductsTest : public QObject {
    Q_OBJECT

    static void add_setups(bool causal_only = false) {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("norm");
        QTest::addColumn<bool>("causal");
        QTest::addColumn<bool>("gpas");
        for (Scheme scheme : {Scheme::None, Scheme::Post, Scheme::Pre, Scheme::Peri, Scheme::DeepNorm,
                              Scheme::Lns, Scheme::Output})
            for (NormKind norm : {NormKind::LayerNorm, NormKind::RmsNorm})
                for (bool causal : {true, false})
                    for (bool gpas : {false, true}) {
                        if (causal_only && !causal) continue;
                        QTest::addRow("%s %s %s%s", word_of(scheme), word_of(norm),
                                      causal ? "causal" : "full", gpas ? " gpas" : "")
                            << static_cast<int>(scheme) << static_cast<int>(norm) << causal << gpas;
                    }
    }
    static StackSpec fetch_stack() {
        QFETCH(int, scheme);
        QFETCH(int, norm);
        QFETCH(bool, causal);
        QFETCH(bool, gpas);
        return stack_of({static_cast<Scheme>(scheme), static_cast<NormKind>(norm), causal, gpas});
    }

  private Q_SLOTS:
    void transpose_data() { add_setups(); }
    void transpose() {
        const StackSpec spec = fetch_stack();
        const auto model = model_of(spec);
        const Batch batch = batch_of(2);
        ThreadPool pool(1);
        Tape<double> tape;
        model.forward(batch, tape, pool);
        const std::size_t one = 5 * 6, sequence = 1;  // the second of two, so that a wrong offset shows
        const int ranges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 3}, {0, 2}, {2, 4}, {0, 4}};
        for (Jacobian kind : {Jacobian::Backprop, Jacobian::Forward})
            for (const auto& [begin, end] : ranges)
                for (unsigned seed = 0; seed < 3; ++seed) {
                    const Vector v = normals(one, 10 + seed), u = normals(one, 20 + seed);
                    Vector jv = v, jtu(2 * one, 0.0);
                    std::copy(u.begin(), u.end(), jtu.begin() + static_cast<std::ptrdiff_t>(sequence * one));
                    model.tangent(tape, static_cast<int>(sequence), begin, end, 0, 1, kind, jv.data());
                    model.pull_back(tape, begin, end, kind, jtu.data());
                    const double left = dot(u, jv.data()), right = dot(v, jtu.data() + sequence * one);
                    const double scale = norm(u) * norm(jv) + norm(v) * norm(jtu);
                    QVERIFY2(
                        std::abs(left - right) <= 1e-12 * scale,
                        qPrintable(QString("%1 … %2: %3 and %4").arg(begin).arg(end).arg(left).arg(right)));
                    QVERIFY(std::abs(left) > 1e-6 * scale);  // or the comparison would say nothing
                    for (std::size_t i = 0; i < one; ++i) QCOMPARE(jtu[i], 0.0);  // sequences do not touch
                }
    }

    void severalDirectionsAreOneByOne_data() { add_setups(); }
    void severalDirectionsAreOneByOne() {
        const auto model = model_of(fetch_stack());
        ThreadPool pool(1);
        Tape<double> tape;
        model.forward(batch_of(1), tape, pool);
        Vector together = normals(3 * 30, 1), single(together.begin() + 30, together.begin() + 60);
        model.tangent(tape, 0, 0, 4, 0, 3, Jacobian::Backprop, together.data());
        model.tangent(tape, 0, 0, 4, 0, 1, Jacobian::Backprop, single.data());
        for (std::size_t i = 0; i < 30; ++i)
            QVERIFY(std::abs(together[30 + i] - single[i]) <= 1e-12 * norm(single));
    }

    /// Directions at the last token alone take a way of their own through attention: the same map, with
    /// grouped keys, rotary positions and norms on q and k besides.
    void lastTokenAloneIsTheSame_data() { add_setups(true); }  // without a mask every token would move
    void lastTokenAloneIsTheSame() {
        for (const bool rotated : {false, true}) {
            StackSpec spec = fetch_stack();
            if (rotated) {
                spec.d_model = 8;
                spec.heads = 4;
                spec.kv_heads = 2;
                spec.d_ff = 9;
                spec.position = Position::Rope;
                spec.qk_norm = QkNorm::Head;
            }
            const auto d = static_cast<std::size_t>(spec.d_model), n = std::size_t{5}, K = std::size_t{3};
            const auto model = model_of(spec);
            ThreadPool pool(1);
            Tape<double> tape;
            model.forward(batch_of(2), tape, pool);
            Vector last = normals(K * d, 4), whole(K * n * d, 0.0);
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t i = 0; i < d; ++i) whole[(k * n + n - 1) * d + i] = last[k * d + i];
            model.tangent(tape, 1, 0, 4, 4, 3, Jacobian::Backprop, last.data());
            model.tangent(tape, 1, 0, 4, 0, 3, Jacobian::Backprop, whole.data());
            for (std::size_t k = 0; k < K; ++k)
                for (std::size_t i = 0; i < d; ++i)
                    QVERIFY(std::abs(last[k * d + i] - whole[(k * n + n - 1) * d + i]) <= 1e-12 * norm(last));
        }
    }

    /// The positions' embedding shifts the first hidden state freely, one row a token.
    void differences_data() { add_setups(); }
    void differences() {
        const StackSpec spec = fetch_stack();
        auto model = model_of(spec);
        const Batch batch = batch_of(1);
        ThreadPool pool(1);
        const Vector v = normals(30, 3);
        const auto shifted = [&](double h) {
            auto moved = model;
            for (std::size_t i = 0; i < 30; ++i) moved.parameters()[moved.table().pos_emb + i] += h * v[i];
            Tape<double> tape;
            moved.forward(batch, tape, pool);
            std::vector<Vector> states;
            for (const double* state : tape.hidden) states.emplace_back(state, state + 30);
            return states;
        };
        Tape<double> tape;
        model.forward(batch, tape, pool);
        // Fourth order: (8(f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h.
        const double h = 1e-3;
        const auto a = shifted(-2 * h), b = shifted(-h), c = shifted(h), d = shifted(2 * h);
        for (int end = 1; end <= 4; ++end) {
            Vector tangent = v;
            model.tangent(tape, 0, 0, end, 0, 1, Jacobian::Forward, tangent.data());
            Vector difference(30);
            const auto k = static_cast<std::size_t>(end);
            for (std::size_t i = 0; i < 30; ++i)
                difference[i] = (8 * (c[k][i] - b[k][i]) - (d[k][i] - a[k][i])) / (12 * h) - tangent[i];
            QVERIFY2(norm(difference) <= 1e-7 * norm(tangent),
                     qPrintable(QString("to h%1: %2").arg(end).arg(norm(difference) / norm(tangent))));
        }
    }

    /// Under stop-gradient the two Jacobians differ where a gate is open, and only there.
    void theTwoJacobiansOfGpas() {
        for (bool gpas : {false, true}) {
            const auto model = model_of(stack_of({Scheme::Pre, NormKind::LayerNorm, true, gpas}));
            ThreadPool pool(1);
            Tape<double> tape;
            model.forward(batch_of(1), tape, pool);
            Vector backprop = normals(30, 1), forward = backprop;
            model.tangent(tape, 0, 0, 4, 0, 1, Jacobian::Backprop, backprop.data());
            model.tangent(tape, 0, 0, 4, 0, 1, Jacobian::Forward, forward.data());
            QCOMPARE(backprop == forward, !gpas);
        }
    }
};

NORMSCOPE_TEST(JacobianProductsTest)
#include "jacobian_products_test.moc"
