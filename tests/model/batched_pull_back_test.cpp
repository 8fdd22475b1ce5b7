// SPDX-License-Identifier: GPL-3.0-or-later
// Several cotangents of one sequence pulled back at once: each is the transpose of its tangent to 1e-12 and
// equals the pull-back of the whole batch, for every scheme and every feature of a block, under both
// Jacobians.
#include "core/model/transformer.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Vector = std::vector<double>;
constexpr int kTokens = 4, kWidth = 8, kSequence = 1, kDirections = 3;
constexpr std::size_t kOne = kTokens * kWidth;

double dot(const double* a, const double* b) {
    double sum = 0;
    for (std::size_t i = 0; i < kOne; ++i) sum += a[i] * b[i];
    return sum;
}
double norm(const double* a) {
    return std::sqrt(dot(a, a));
}

/// The n-th stack of a scheme: the features of the block go round.
StackSpec stack_of(Scheme scheme, int n) {
    StackSpec s;
    s.depth = 2;
    s.d_model = kWidth;
    s.heads = 4;
    s.kv_heads = n % 3 == 0 ? 2 : 4;
    s.d_ff = 9;
    s.context = kTokens;
    s.scheme = scheme;
    s.causal = n % 4 != 1;
    s.norm.kind = n % 2 == 0 ? NormKind::LayerNorm : NormKind::RmsNorm;
    s.activation = n % 2 == 0 ? Activation::SwiGlu : Activation::GeluTanh;
    s.position = n % 2 == 0 ? Position::Rope : Position::Learned;
    s.qk_norm = static_cast<QkNorm>(n % 3);
    s.branch_scale = static_cast<BranchScale>((n + 1) % 3);
    s.layout = n % 4 == 3 ? Layout::Parallel : Layout::Serial;
    s.gpas.enabled = n > 0;
    if (n > 0) s.gpas.site = static_cast<GateSite>(n % 6);
    s.gpas.stop_gradient = n % 5 != 2;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    complete(s, 11);
    return s;
}

}  // namespace

class BatchedPullBackTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyDirection_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("stack");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (int n = 0; n < 12; ++n)
                QTest::addRow("%s %d", word_of(static_cast<Scheme>(scheme)), n) << scheme << n;
    }
    void everyDirection() {
        QFETCH(int, scheme);
        QFETCH(int, stack);
        const auto model = model_of(stack_of(static_cast<Scheme>(scheme), stack));
        Batch batch{2, kTokens, {}, {}};
        for (int i = 0; i < 2 * kTokens; ++i) batch.tokens.push_back((7 * i + 3) % 11);
        ThreadPool pool(1);
        Tape<double> tape;
        model.forward(batch, tape, pool);
        const int ranges[][2] = {{0, 1}, {1, 2}, {2, 4}, {1, 3}, {0, 4}};
        for (Jacobian kind : {Jacobian::Backprop, Jacobian::Forward})
            for (const auto& [begin, end] : ranges) {
                const Vector v = normals(kDirections * kOne, 31), u = normals(kDirections * kOne, 32);
                Vector jv = v, jtu = u;
                model.tangent(tape, kSequence, begin, end, 0, kDirections, kind, jv.data());
                model.pull_back(tape, kSequence, begin, end, kDirections, kind, jtu.data());
                for (std::size_t at = 0; at < kDirections * kOne; at += kOne) {
                    const double* back = jtu.data() + at;
                    const double scale = norm(&u[at]) * norm(&jv[at]) + norm(&v[at]) * norm(back);
                    QVERIFY(std::abs(dot(&u[at], &jv[at]) - dot(&v[at], back)) <= 1e-12 * scale);
                    Vector whole(2 * kOne, 0.0);
                    std::copy_n(&u[at], kOne, whole.begin() + kSequence * kOne);
                    model.pull_back(tape, begin, end, kind, whole.data());
                    for (std::size_t i = 0; i < kOne; ++i)
                        QVERIFY(std::abs(whole[kSequence * kOne + i] - back[i]) <= 1e-12 * norm(back));
                }
            }
    }
};

NORMSCOPE_TEST(BatchedPullBackTest)
#include "batched_pull_back_test.moc"
