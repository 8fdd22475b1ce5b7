// SPDX-License-Identifier: GPL-3.0-or-later
// accumulate() against forward() and backward(), which other tests hold against differences and PyTorch.
#include "core/base/error.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace normscope;

namespace {

constexpr int kVocabulary = 7, kLength = 5;

/// Every kind of tensor at once, in any scheme: gates, scales, norms with biases, positions, norms on q and
/// k.
StackSpec stack_of(Scheme scheme, Block block, GateSite site, BranchScale scale) {
    StackSpec s;
    apply_block_preset(s, block);
    s.scheme = scheme;
    s.depth = 2;
    s.d_model = 12;
    s.heads = 2;
    s.context = kLength;
    s.gpas.enabled = site != GateSite::Auto;
    s.gpas.site = site;
    s.branch_scale = scale;
    s.qk_norm = block == Block::Llama ? QkNorm::Head : QkNorm::Off;
    complete(s, kVocabulary);
    validate(s);
    return s;
}

Batch tokens(int sequences) {
    Batch batch{sequences, kLength, {}, {}};
    for (int i = 0; i < sequences * kLength; ++i) {
        batch.tokens.push_back(i * i % kVocabulary);
        batch.targets.push_back((3 * i + i / 4) % kVocabulary);
    }
    return batch;
}

template <class T>
struct Result {
    std::vector<T> gradient, losses;
    std::vector<double> states, gradients;  ///< squares of every hidden state, and of its gradient
};

template <class T>
Result<T> read(const Transformer<T>& model, Gradients<T>& gradients, const T* losses, int rows,
               ThreadPool& pool) {
    model.reduce(gradients, pool);
    Result<T> result{gradients.total().values(), {losses, losses + rows}, {}, {}};
    const std::vector<double> squares = gradients.hidden_squares.values();  // [shards, 2, states]
    const std::size_t states = model.rules().size() + 1;
    const auto sum = [&](std::size_t which) {
        std::vector<double> total(states);
        for (std::size_t shard = 0; shard < gradients.shards.size(); ++shard)
            for (std::size_t k = 0; k < states; ++k) total[k] += squares[(2 * shard + which) * states + k];
        return total;
    };
    result.states = sum(0);
    result.gradients = sum(1);
    return result;
}

/// Two ways to one gradient; the second starts from buffers that hold no numbers.
template <class T>
Result<T> with_tape(const Transformer<T>& model, const Batch& batch, T factor) {
    ThreadPool pool(2);
    Tape<T> tape;
    Gradients<T> gradients;
    model.forward(batch, tape, pool);
    model.clear(gradients, batch.sequences);
    model.backward(batch, tape, factor, gradients, pool);
    return read(model, gradients, tape.losses, tape.rows(), pool);
}
template <class T>
Result<T> without_tape(const Transformer<T>& model, const Batch& batch, T factor, int threads = 2) {
    ThreadPool pool(threads);
    StepScratch<T> scratch;
    Gradients<T> gradients;
    gradients.shards.resize(4);
    for (auto& shard : gradients.shards)
        shard.upload(model.device(),
                     std::vector<T>(model.table().size(), std::numeric_limits<T>::quiet_NaN()));
    model.clear(gradients, batch.sequences);
    model.accumulate(batch, factor, gradients, scratch, pool);
    return read(model, gradients, scratch.losses.data(), static_cast<int>(scratch.losses.size()), pool);
}

template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i])) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
        largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    }
    return worst / largest;
}

template <class T>
bool same(const Result<T>& a, const Result<T>& b) {
    return a.gradient == b.gradient && a.losses == b.losses && a.states == b.states &&
           a.gradients == b.gradients;
}

}  // namespace

class StepGradientTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void isForwardAndBackward_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("block");
        QTest::addColumn<int>("site");
        QTest::addColumn<int>("scale");
        int i = 0;
        for (const Scheme scheme : {Scheme::None, Scheme::Post, Scheme::Pre, Scheme::Peri, Scheme::Sandwich,
                                    Scheme::DeepNorm, Scheme::Mix, Scheme::Lns, Scheme::Output})
            for (const Block block : {Block::Gpt2, Block::Llama})
                for (const GateSite site :
                     {GateSite::Auto, GateSite::Branch, GateSite::Norm, GateSite::Output}) {
                    const BranchScale scale = static_cast<BranchScale>(i++ % 3);
                    QTest::addRow("%s %s site %d scale %d", word_of(scheme), word_of(block),
                                  static_cast<int>(site), static_cast<int>(scale))
                        << static_cast<int>(scheme) << static_cast<int>(block) << static_cast<int>(site)
                        << static_cast<int>(scale);
                }
    }
    void isForwardAndBackward() {
        QFETCH(int, scheme);
        QFETCH(int, block);
        QFETCH(int, site);
        QFETCH(int, scale);
        const StackSpec spec = stack_of(static_cast<Scheme>(scheme), static_cast<Block>(block),
                                        static_cast<GateSite>(site), static_cast<BranchScale>(scale));
        const Batch batch = tokens(6);
        QVERIFY(same(without_tape(Transformer<double>(spec, 3), batch, 0.5),
                     with_tape(Transformer<double>(spec, 3), batch, 0.5)));
        QVERIFY(same(without_tape(Transformer<float>(spec, 3), batch, 0.5f),
                     with_tape(Transformer<float>(spec, 3), batch, 0.5f)));
    }

    // More rows in a shard than go forward and back together: other sums, the same gradient.
    void manySequences() {
        const StackSpec spec = stack_of(Scheme::Peri, Block::Gpt2, GateSite::Branch, BranchScale::Channel);
        const Transformer<double> model(spec, 3);
        for (const int sequences : {4 * 102, 4 * 102 + 1, 4 * 205 + 3}) {
            const Batch batch = tokens(sequences);
            const auto got = without_tape(model, batch, 1.0), wanted = with_tape(model, batch, 1.0);
            QVERIFY2(distance(got.gradient, wanted.gradient) < 1e-13, qPrintable(QString::number(sequences)));
            QVERIFY(distance(got.losses, wanted.losses) < 1e-14);
            for (std::size_t k = 0; k < wanted.states.size(); ++k) {
                QVERIFY(std::abs(got.states[k] - wanted.states[k]) < 1e-12 * wanted.states[k]);
                QVERIFY(std::abs(got.gradients[k] - wanted.gradients[k]) < 1e-12 * wanted.gradients[k]);
            }
            QVERIFY(same(got, without_tape(model, batch, 1.0, 1)));
        }
    }

    // Emulated precision counts a shard's sum as one operation, however many rows it has.
    void roundsLikeBackward() {
        const StackSpec spec = stack_of(Scheme::Pre, Block::Gpt2, GateSite::Auto, BranchScale::None);
        Transformer<float> model(spec, 3);
        model.set_rounding(Rounding::Bf16);
        const std::vector<float> weights(model.parameters().begin(), model.parameters().end());
        model.set_parameters(weights);
        const Batch batch = tokens(4 * 102 + 4);
        QVERIFY(same(without_tape(model, batch, 1.0f), with_tape(model, batch, 1.0f)));
    }

    void parallelLayers() {
        StackSpec spec = stack_of(Scheme::Pre, Block::Llama, GateSite::Output, BranchScale::Channel);
        spec.layout = Layout::Parallel;
        validate(spec);
        const Transformer<double> model(spec, 3);
        QVERIFY(same(without_tape(model, tokens(6), 1.0), with_tape(model, tokens(6), 1.0)));
    }

    void passesAddUp() {
        const Transformer<double> model(
            stack_of(Scheme::Pre, Block::Llama, GateSite::Auto, BranchScale::None), 3);
        ThreadPool pool(2);
        const Batch batch = tokens(5);
        StepScratch<double> scratch;
        Gradients<double> gradients;
        model.clear(gradients, batch.sequences);
        for (int i = 0; i < 3; ++i) model.accumulate(batch, 1, gradients, scratch, pool);
        model.reduce(gradients, pool);
        std::vector<double> thrice = without_tape(model, batch, 1.0).gradient;
        for (double& g : thrice) g *= 3;
        QVERIFY(distance(gradients.total().values(), thrice) < 1e-13);
    }

    void rejectsTokensThatAreNone() {
        const Transformer<double> model(stack_of(Scheme::Pre, Block::Gpt2, GateSite::Auto, BranchScale::None),
                                        3);
        ThreadPool pool(1);
        StepScratch<double> scratch;
        Gradients<double> gradients;
        Batch batch = tokens(1);
        model.clear(gradients, batch.sequences);
        batch.targets.back() = kVocabulary;
        QVERIFY_EXCEPTION_THROWN(model.accumulate(batch, 1, gradients, scratch, pool), InputError);
    }
};

NORMSCOPE_TEST(StepGradientTest)
#include "step_gradient_test.moc"
