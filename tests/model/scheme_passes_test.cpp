// SPDX-License-Identifier: GPL-3.0-or-later
// Forward, backward and tangent of every scheme × gate site × stop-gradient × layout × branch scale: against
// plain loops and their finite differences (under stop-gradient those of the surrogate whose sg(·) is a
// constant), and against each other's transpose.
#include "tests/model/plain_model.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Vector = PlainModel::Vector;
constexpr int kTokens = 4, kWidth = 6, kVocab = 7;
constexpr std::size_t kState = kTokens * kWidth;

double dot(const double* a, const double* b, std::size_t count) {
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) total += a[i] * b[i];
    return total;
}
double norm(const Vector& a) {
    return std::sqrt(dot(a.data(), a.data(), a.size()));
}

RuleOverride manual(bool in, bool out, bool post, double a, double b) {
    RuleOverride rule;
    rule.in = in;
    rule.out = out;
    rule.post = post;
    rule.a = a;
    rule.b = b;
    return rule;
}

/// The n-th stack of a sweep; what is not among the arguments varies with n.
StackSpec stack_of(Scheme scheme, std::optional<GateSite> gate, bool stop, Layout layout, BranchScale scale,
                   int n) {
    StackSpec s;
    s.depth = 2;
    s.d_model = kWidth;
    s.heads = 2;
    s.d_ff = 5;
    s.context = kTokens;
    s.scheme = scheme;
    s.mix_post_fraction = 0.5;
    s.norm.kind = n % 2 == 0 ? NormKind::LayerNorm : NormKind::RmsNorm;
    s.causal = n % 3 != 0;
    s.layout = layout;
    s.branch_scale = scale;
    s.branch_scale_init = 0.8;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    s.gpas.enabled = gate.has_value();
    if (gate) s.gpas.site = *gate;
    s.gpas.stop_gradient = stop;
    s.gpas.activation = static_cast<GateActivation>(n % static_cast<int>(words_of<GateActivation>().size()));
    if (scheme == Scheme::Custom)
        s.layers = {{0, manual(true, true, true, 0.6, 1.3), manual(false, false, true, 0.9, 0.5)},
                    {1, manual(false, true, false, -0.4, 1.1), manual(true, false, false, 0.8, -0.7)}};
    complete(s, kVocab);
    return s;
}

const std::vector<int> kInput{3, 0, 6, 3}, kTarget{1, 5, 2, 6};

Batch batch_of(int sequences) {
    Batch batch{sequences, kTokens, {}, {}};
    for (int b = 0; b < sequences; ++b)
        for (std::size_t t = 0; t < kTokens; ++t) {
            batch.tokens.push_back((kInput[t] + b) % kVocab);
            batch.targets.push_back((kTarget[t] + b) % kVocab);
        }
    return batch;
}

/// (8(f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h, of fourth order.
template <class F>
Vector derivative(const F& f) {
    const double h = 1e-4;
    const Vector a = f(-2 * h), b = f(-h), c = f(h), d = f(2 * h);
    Vector result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = (8 * (c[i] - b[i]) - (d[i] - a[i])) / (12 * h);
    return result;
}

double distance(const Vector& a, const Vector& b) {
    Vector difference(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
    return norm(difference);
}

QByteArray text(double a, double b) {
    return QStringLiteral("%1 and %2").arg(a, 0, 'g', 15).arg(b, 0, 'g', 15).toUtf8();
}

}  // namespace

class SchemePassesTest : public QObject {
    Q_OBJECT

    static void add_stacks() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("gate");  // −1: none
        QTest::addColumn<bool>("stop");
        QTest::addColumn<int>("layout");
        QTest::addColumn<int>("scale");
        QTest::addColumn<int>("n");
        int n = 0;
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (int gate = -1; gate <= static_cast<int>(GateSite::Branch); ++gate)
                for (bool stop : {true, false})
                    for (int layout : {0, 1})
                        for (int scale : {0, 1, 2}) {
                            if (gate < 0 && !stop) continue;
                            QTest::addRow("%s %s%s %s %s", word_of(static_cast<Scheme>(scheme)),
                                          gate < 0 ? "ungated" : word_of(static_cast<GateSite>(gate)),
                                          stop ? "" : " no-stop", word_of(static_cast<Layout>(layout)),
                                          word_of(static_cast<BranchScale>(scale)))
                                << scheme << gate << stop << layout << scale << n++;
                        }
    }
    static StackSpec fetch_stack() {
        QFETCH(int, scheme);
        QFETCH(int, gate);
        QFETCH(bool, stop);
        QFETCH(int, layout);
        QFETCH(int, scale);
        QFETCH(int, n);
        return stack_of(static_cast<Scheme>(scheme),
                        gate < 0 ? std::nullopt : std::optional(static_cast<GateSite>(gate)), stop,
                        static_cast<Layout>(layout), static_cast<BranchScale>(scale), n);
    }

    ThreadPool pool_{1};

  private Q_SLOTS:
    void forward_data() { add_stacks(); }
    void forward() {
        const auto model = model_of(fetch_stack());
        Tape<double> tape;
        model.forward(batch_of(1), tape, pool_);
        const auto plain = PlainModel(model).run(kInput, kTarget);
        for (std::size_t k = 0; k < plain.hidden.size(); ++k) {
            const Vector ours(tape.hidden[k], tape.hidden[k] + kState);
            QVERIFY2(distance(ours, plain.hidden[k]) <= 1e-13 * norm(plain.hidden[k]),
                     qPrintable(QString("h%1 off by %2").arg(k).arg(distance(ours, plain.hidden[k]))));
        }
        QVERIFY2(std::abs(tape.mean_loss() - plain.loss) < 1e-13, text(tape.mean_loss(), plain.loss));
    }

    void gradients_data() { add_stacks(); }
    void gradients() {
        const auto model = model_of(fetch_stack());
        Tape<double> tape;
        Gradients<double> gradients;
        model.forward(batch_of(1), tape, pool_);
        model.clear(gradients, 1);
        model.backward(batch_of(1), tape, 1, gradients, pool_);
        const Vector gradient = gradients.total().values();

        PlainModel plain(model);
        plain.hold_stopped(kInput, kTarget);
        const Vector base = plain.parameters;
        const auto check = [&](const Vector& direction, double expected, const std::string& what) {
            const double slope = derivative([&](double h) {
                for (std::size_t i = 0; i < base.size(); ++i)
                    plain.parameters[i] = base[i] + h * direction[i];
                return Vector{plain.run(kInput, kTarget).loss};
            })[0];
            const double scale = 1e-8 * (norm(gradient) * norm(direction) + 1);
            QVERIFY2(std::abs(slope - expected) <= scale,
                     (what + ": " + text(slope, expected).toStdString()).c_str());
        };
        // Every gate and scale by itself, every tensor along one direction.
        for (const TensorInfo& t : model.table().tensors()) {
            Vector direction(base.size(), 0.0);
            const Vector v = normals(t.count, static_cast<unsigned>(t.offset));
            std::copy(v.begin(), v.end(), direction.begin() + static_cast<std::ptrdiff_t>(t.offset));
            check(direction, dot(v.data(), gradient.data() + t.offset, t.count), t.name);
            if (QTest::currentTestFailed()) return;
        }
    }

    void tangents_data() { add_stacks(); }
    void tangents() {
        const auto model = model_of(fetch_stack());
        Tape<double> tape;
        model.forward(batch_of(1), tape, pool_);
        PlainModel plain(model);
        const Vector v = normals(kState, 3);
        for (Jacobian kind : {Jacobian::Forward, Jacobian::Backprop}) {
            if (kind == Jacobian::Backprop) plain.hold_stopped(kInput, kTarget);
            const Vector states = derivative([&](double h) {
                Vector shift = v, all;
                for (double& x : shift) x *= h;
                for (const Vector& state : plain.run(kInput, kTarget, shift).hidden)
                    all.insert(all.end(), state.begin(), state.end());
                return all;
            });
            for (int end = 1; end <= 4; ++end) {
                Vector tangent = v;
                model.tangent(tape, 0, 0, end, 0, 1, kind, tangent.data());
                const auto at = states.begin() + static_cast<std::ptrdiff_t>(kState) * end;
                const Vector expected(at, at + static_cast<std::ptrdiff_t>(kState));
                QVERIFY2(distance(tangent, expected) <= 1e-7 * norm(tangent),
                         qPrintable(QString("to h%1: off by %2").arg(end).arg(distance(tangent, expected))));
            }
        }
    }

    void transpose_data() { add_stacks(); }
    void transpose() {
        const auto model = model_of(fetch_stack());
        Tape<double> tape;
        model.forward(batch_of(2), tape, pool_);
        const std::size_t sequence = 1;
        const int ranges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 2}, {1, 3}, {1, 4}, {0, 3}, {0, 4}};
        for (Jacobian kind : {Jacobian::Backprop, Jacobian::Forward})
            for (const auto& [begin, end] : ranges) {
                const Vector v = normals(kState, 10), u = normals(kState, 20);
                Vector jv = v, jtu(2 * kState, 0.0);
                std::copy(u.begin(), u.end(), jtu.begin() + kState);
                model.tangent(tape, sequence, begin, end, 0, 1, kind, jv.data());
                model.pull_back(tape, begin, end, kind, jtu.data());
                const double left = dot(u.data(), jv.data(), kState),
                             right = dot(v.data(), jtu.data() + kState, kState);
                const double scale = norm(u) * norm(jv) + norm(v) * norm(jtu);
                QVERIFY2(std::abs(left - right) <= 1e-12 * scale, text(left, right));
                QVERIFY(std::abs(left) > 1e-6 * scale);  // or the comparison would say nothing
            }
    }

    /// In a parallel layer a range that begins between the sub-layers begins with the feed-forward map's own.
    void theOwnMapOfAParallelFeedForward_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("gate");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (int gate = -1; gate <= static_cast<int>(GateSite::Branch); ++gate)
                QTest::addRow("%s %s", word_of(static_cast<Scheme>(scheme)),
                              gate < 0 ? "ungated" : word_of(static_cast<GateSite>(gate)))
                    << scheme << gate;
    }
    void theOwnMapOfAParallelFeedForward() {
        QFETCH(int, scheme);
        QFETCH(int, gate);
        const auto model = model_of(stack_of(
            static_cast<Scheme>(scheme), gate < 0 ? std::nullopt : std::optional(static_cast<GateSite>(gate)),
            true, Layout::Parallel, BranchScale::Channel, scheme));
        Tape<double> tape;
        model.forward(batch_of(1), tape, pool_);
        PlainModel plain(model);
        const Vector x(tape.hidden[2], tape.hidden[2] + kState), v = normals(kState, 3);
        Vector tangent = v;
        model.tangent(tape, 0, 3, 4, 0, 1, Jacobian::Forward, tangent.data());
        const Vector expected = derivative([&](double h) {
            Vector moved = x;
            for (std::size_t i = 0; i < kState; ++i) moved[i] += h * v[i];
            return plain.feed_forward_alone(1, moved, x);
        });
        QVERIFY2(distance(tangent, expected) <= 1e-7 * norm(tangent), text(norm(tangent), norm(expected)));
    }

    void severalDirectionsAreOneByOne_data() { add_stacks(); }
    void severalDirectionsAreOneByOne() {
        const auto model = model_of(fetch_stack());
        Tape<double> tape;
        model.forward(batch_of(1), tape, pool_);
        Vector together = normals(3 * kState, 1),
               single(together.begin() + kState, together.begin() + 2 * kState);
        model.tangent(tape, 0, 0, 4, 0, 3, Jacobian::Backprop, together.data());
        model.tangent(tape, 0, 0, 4, 0, 1, Jacobian::Backprop, single.data());
        const Vector second(together.begin() + kState, together.begin() + 2 * kState);
        QVERIFY(distance(second, single) <= 1e-12 * norm(single));
    }
};

NORMSCOPE_TEST(SchemePassesTest)
#include "scheme_passes_test.moc"
