// SPDX-License-Identifier: GPL-3.0-or-later
// Factors whose product is the measured ratio, held against what each part does alone; branches against the
// hidden states.
#include "core/probe/residual.h"

#include "core/probe/gradients.h"
#include "core/train/trainer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kWidth = 8, kSequences = 3;
constexpr GateSite kSites[] = {GateSite::Auto,  GateSite::Output, GateSite::Shortcut,
                               GateSite::Input, GateSite::Norm,   GateSite::Branch};

StackSpec stack_of(Scheme scheme, Layout layout) {
    StackSpec s;
    s.depth = 3;
    s.d_model = kWidth;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.layout = layout;
    s.mix_post_fraction = 0.5;
    s.residual_step = 0.6;
    complete(s, 9);
    if (scheme == Scheme::Custom) {
        s.layers.resize(2);
        s.layers[0].index = 1;
        s.layers[0].attn.out = s.layers[0].ffn.post = s.layers[0].ffn.out = true;
        s.layers[0].attn.a = -1.4;
        s.layers[0].ffn.b = 0.3;
        s.layers[1].index = 2;
        s.layers[1].attn.a = s.layers[1].ffn.a = 0;
    }
    return s;
}

/// Gains, biases, scales and gates away from where they start.
template <class T>
Transformer<T> model_of(const StackSpec& spec) {
    Transformer<T> model(spec, 3);
    std::mt19937 generator(4);
    std::normal_distribution<double> normal(0, 0.4);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of() {
    Batch batch{kSequences, kTokens, {}, {}};
    for (int i = 0; i < kSequences * kTokens; ++i) {
        batch.tokens.push_back((7 * i + 3) % 9);
        batch.targets.push_back((4 * i + i / 5) % 9);
    }
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

template <class T>
double norm_of(const T* x, std::size_t count) {
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return std::sqrt(squares);
}

bool near(double a, double b, double relative) {
    return std::abs(a - b) <= relative * std::abs(b);
}

void add_stacks() {
    QTest::addColumn<int>("scheme");
    QTest::addColumn<int>("layout");
    QTest::addColumn<int>("gate");  // −1: no GPAS; else the site, + 10 with the stop-gradient off
    QTest::addColumn<int>("scale");
    for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
        for (int layout : {0, 1}) {
            const auto row = [&](const char* gate_name, int gate, int scale) {
                QTest::addRow("%s %s %s %s", word_of(static_cast<Scheme>(scheme)),
                              word_of(static_cast<Layout>(layout)), gate_name,
                              word_of(static_cast<BranchScale>(scale)))
                    << scheme << layout << gate << scale;
            };
            for (int scale : {0, 1, 2}) row("no gate", -1, scale);
            for (GateSite site : kSites) {
                row(word_of(site), static_cast<int>(site), 0);
                row((std::string(word_of(site)) + " without stop").c_str(), static_cast<int>(site) + 10, 2);
            }
        }
}

StackSpec fetch_stack() {
    QFETCH(int, scheme);
    QFETCH(int, layout);
    QFETCH(int, gate);
    QFETCH(int, scale);
    StackSpec s = stack_of(static_cast<Scheme>(scheme), static_cast<Layout>(layout));
    s.branch_scale = static_cast<BranchScale>(scale);
    s.branch_scale_init = 0.8;
    s.gpas.enabled = gate >= 0;
    if (gate >= 0) s.gpas.site = static_cast<GateSite>(gate % 10);
    s.gpas.stop_gradient = gate < 10;
    return s;
}

template <class T>
void check_products(const StackSpec& spec, double tolerance) {
    const auto model = model_of<T>(spec);
    const Batch batch = batch_of();
    ThreadPool pool(1);
    ProbeInput<T> input(model, batch, pool, 0);
    const ProbeResult found = probe_residual(input);
    const std::vector<double> hidden = values(probe_gradients(input), "hidden");
    double product = 1;
    for (std::size_t k = 0; k < 2 * 3; ++k) {
        const double factor = values(found, "grad_norm")[k] * values(found, "grad_shortcut")[k] *
                              values(found, "grad_branch")[k];
        QVERIFY(near(factor, hidden[k] / hidden[k + 1], tolerance));
        product *= factor;
    }
    QVERIFY(near(product, hidden.front() / hidden.back(), tolerance));
}

}  // namespace

class ResidualTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{1};

  private Q_SLOTS:
    void productsAreTheMeasuredRatios_data() { add_stacks(); }
    void productsAreTheMeasuredRatios() {
        check_products<double>(fetch_stack(), 1e-12);
        check_products<float>(fetch_stack(), 1e-5);
    }

    /// The same on weights in training: at step 0, at step 8 and at the end. Post-LN's gradients collapse on
    /// the way.
    void productsHoldInTraining_data() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<bool>("gated");
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (bool gated : {false, true})
                QTest::addRow("%s%s", word_of(static_cast<Scheme>(scheme)), gated ? " gated" : "")
                    << scheme << gated;
    }
    void productsHoldInTraining() {
        QFETCH(int, scheme);
        QFETCH(bool, gated);
        StackSpec s;
        s.depth = 6;
        s.d_model = 16;
        s.heads = 2;
        s.context = 16;
        s.scheme = static_cast<Scheme>(scheme);
        s.gpas.enabled = gated;
        TrainSpec train;
        train.steps = 40;
        train.batch = 8;
        train.optimizer.lr = 0.01;
        const std::shared_ptr<const Corpus> corpus = make_corpus(train.data, s);
        complete(s, corpus->vocab());
        Trainer<float> trainer(s, train, corpus);
        std::vector<double> ratios;
        while (!trainer.ended()) {
            const std::int64_t step = trainer.steps_done();
            trainer.prepare_numerics();
            if (step == 0 || step == 8 || step == train.steps - 1) {
                const Batch batch = trainer.probe_batch(8, s.context);
                ProbeInput<float> input(trainer.model(), batch, pool_, step);
                const ProbeResult found = probe_residual(input);
                const std::vector<double> hidden = values(probe_gradients(input), "hidden");
                double product = 1;
                for (std::size_t k = 0; k < 12; ++k)
                    product *= values(found, "grad_norm")[k] * values(found, "grad_shortcut")[k] *
                               values(found, "grad_branch")[k];
                QVERIFY(near(product, hidden.front() / hidden.back(), 1e-5));
                ratios.push_back(product);
            }
            trainer.step(pool_);
        }
        QCOMPARE(ratios.size(), std::size_t(3));
        if (s.scheme == Scheme::Post && !gated) {
            QVERIFY2(ratios[0] > 0.3, qPrintable(QString::number(ratios[0])));
            QVERIFY2(ratios[1] < ratios[0] / 3, qPrintable(QString::number(ratios[1])));
            QVERIFY2(ratios[2] < ratios[0] / 10, qPrintable(QString::number(ratios[2])));
        }
    }

    /// What norm and shortcut do is what remains of the backward pass when the branches of the same tape are
    /// multiplied by 0: the product of the two factors, sub-layer by sub-layer, not only of all three.
    void normAndShortcutAreThePassWithoutBranches_data() { add_stacks(); }
    void normAndShortcutAreThePassWithoutBranches() {
        const StackSpec spec = fetch_stack();
        const auto model = model_of<double>(spec);
        auto bare = model;
        bare.numerics.residual_step = 0;
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_residual(input);
        // The tape holds what its pass multiplied by.
        Tape<double> tape, without;
        model.forward(batch, tape, pool_);
        bare.forward(batch, without, pool_);
        tape.coefficients = without.coefficients;
        const bool parallel = spec.layout == Layout::Parallel;
        for (int k = 0; k < 6; k += parallel ? 2 : 1) {
            const int end = k + (parallel ? 2 : 1);
            std::vector<double> gradient = input.backward().hidden[static_cast<std::size_t>(end)].values();
            const double before = norm_of(gradient.data(), gradient.size());
            bare.pull_back(tape, k, end, Jacobian::Backprop, gradient.data());
            const double left = norm_of(gradient.data(), gradient.size()) / before;
            double factors = 1;
            for (int i = k; i < end; ++i)
                factors *= values(found, "grad_norm")[static_cast<std::size_t>(i)] *
                           values(found, "grad_shortcut")[static_cast<std::size_t>(i)];
            if (left > 0)
                QVERIFY(near(factors, left, 1e-12));
            else  // a = 0: the branch has it all
                QCOMPARE(values(found, "grad_shortcut")[static_cast<std::size_t>(k)], 1.0);
        }
    }

    /// The norm's factor against the Jacobian of theory/, built token by token.
    void theNormsFactorIsThatOfItsJacobian() {
        for (Scheme scheme : {Scheme::Post, Scheme::DeepNorm, Scheme::Pre}) {
            StackSpec s = stack_of(scheme, Layout::Serial);
            const auto model = model_of<double>(s);
            const Batch batch = batch_of();
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult found = probe_residual(input);
            for (std::size_t k = 0; k < 6; ++k) {
                if (scheme == Scheme::Pre) {
                    QCOMPARE(values(found, "grad_norm")[k], 1.0);
                    continue;
                }
                const auto& at = k % 2 == 0
                                     ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                                     : model.table().feed_forward[k / 2];
                const double* gamma = model.parameters().data() + at.norm_post.weight;
                const std::vector<double> g = input.backward().hidden[k + 1].values();
                double squares = 0;
                for (std::size_t r = 0; r < kSequences * kTokens; ++r) {
                    const double* z = input.tape().sublayers[k].z + r * kWidth;
                    double mean = 0, variance = 0, sum = 0, along = 0;
                    for (int i = 0; i < kWidth; ++i) mean += z[i] / kWidth;
                    for (int i = 0; i < kWidth; ++i) variance += (z[i] - mean) * (z[i] - mean) / kWidth;
                    const double sigma = std::sqrt(variance + s.norm.eps);
                    for (int i = 0; i < kWidth; ++i) {
                        sum += gamma[i] * g[r * kWidth + i] / kWidth;
                        along += gamma[i] * g[r * kWidth + i] * (z[i] - mean) / sigma / kWidth;
                    }
                    for (int i = 0; i < kWidth; ++i)
                        squares += std::pow(
                            (gamma[i] * g[r * kWidth + i] - sum - along * (z[i] - mean) / sigma) / sigma, 2);
                }
                QVERIFY(near(values(found, "grad_norm")[k], std::sqrt(squares) / norm_of(g.data(), g.size()),
                             1e-12));
            }
        }
    }

    /// Ratio and cosine from the hidden states alone: without norms and gates after the sum, the branch is
    /// h_{k+1} − s·h_k; with a post norm, z − s·h_k.
    void branchesAreWhatTheHiddenStatesState_data() { add_stacks(); }
    void branchesAreWhatTheHiddenStatesState() {
        const StackSpec spec = fetch_stack();
        const auto model = model_of<double>(spec);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_residual(input);
        const Tape<double>& tape = input.tape();
        for (std::size_t k = 0; k < 6; ++k) {
            const SublayerRule& rule = model.rules()[k];
            const bool second = spec.layout == Layout::Parallel && k % 2 == 1;
            const bool first = spec.layout == Layout::Parallel && k % 2 == 0;
            double gate = 1;
            const auto at = model.table().attention[k / 2].gate;
            if (spec.gpas.enabled) {
                const double g = model.parameters()[k % 2 == 0 ? at : model.table().feed_forward[k / 2].gate];
                gate = 1 - g / (1 + std::exp(-g));
            }
            double shortcut = second ? 1 : rule.a;
            if (!second && (rule.gate == GateSite::Shortcut || rule.gate == GateSite::Input))
                shortcut *= gate;
            const double after = rule.gate == GateSite::Output && !first ? gate : 1;
            double ratio = 0, cosine = 0;
            for (std::size_t r = 0; r < kSequences * kTokens; ++r) {
                const double* x = tape.hidden[k] + r * kWidth;
                std::vector<double> branch(kWidth);
                double dot = 0;
                for (std::size_t i = 0; i < kWidth; ++i) {
                    const double z = rule.post ? tape.sublayers[k].z[r * kWidth + i]
                                               : tape.hidden[k + 1][r * kWidth + i] / after;
                    branch[i] = z - shortcut * x[i];
                    dot += branch[i] * x[i];
                }
                const double size = norm_of(branch.data(), kWidth), stream = norm_of(x, kWidth);
                ratio += size / stream / (kSequences * kTokens);
                cosine += dot / (size * stream) / (kSequences * kTokens);
            }
            QVERIFY(near(values(found, "branch_ratio")[k], ratio, 1e-12));
            QVERIFY(std::abs(values(found, "branch_cosine")[k] - cosine) < 1e-12);
        }
    }

    /// A sequence omitted by hand.
    void errorsAreOverTheSequences() {
        const auto model = model_of<double>(stack_of(Scheme::Post, Layout::Serial));
        const Batch all = batch_of();
        ProbeInput<double> input(model, all, pool_, 0);
        const ProbeResult found = probe_residual(input);
        // A mean over tokens of sequences of one length: the standard error of the sequences' means.
        std::vector<double> means;
        for (int b = 0; b < kSequences; ++b) {
            Batch one{1, kTokens, {}, {}};
            one.tokens.assign(all.tokens.begin() + b * kTokens, all.tokens.begin() + (b + 1) * kTokens);
            one.targets.assign(all.targets.begin() + b * kTokens, all.targets.begin() + (b + 1) * kTokens);
            ProbeInput<double> alone(model, one, pool_, 0);
            const ProbeResult result = probe_residual(alone);
            QVERIFY(std::isnan(values(result, "branch_ratio_error")[2]));
            means.push_back(values(result, "branch_ratio")[2]);
        }
        double mean = 0, squares = 0;
        for (const double m : means) mean += m / kSequences;
        for (const double m : means) squares += (m - mean) * (m - mean);
        QVERIFY(near(values(found, "branch_ratio")[2], mean, 1e-13));
        QVERIFY(near(values(found, "branch_ratio_error")[2],
                     std::sqrt(squares / (kSequences - 1) / kSequences), 1e-10));
        for (const double e : values(found, "grad_norm_error")) QVERIFY(e > 0);
    }

    /// What the shortcut alone carries, from the sums on the tape.
    void theShortcutsGainIsThatOfItsNorm_data() { add_stacks(); }
    void theShortcutsGainIsThatOfItsNorm() {
        const StackSpec spec = fetch_stack();
        const auto model = model_of<double>(spec);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_residual(input);
        for (std::size_t k = 0; k < 6; ++k) {
            const SublayerRule& rule = model.rules()[k];
            const bool second = spec.layout == Layout::Parallel && k % 2 == 1;
            const bool first = spec.layout == Layout::Parallel && k % 2 == 0;
            const auto& at = k % 2 == 0 ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                                        : model.table().feed_forward[k / 2];
            double gate = 1;
            if (spec.gpas.enabled && !spec.gpas.stop_gradient) {
                const double g = model.parameters()[at.gate];
                gate = 1 - g / (1 + std::exp(-g));
            }
            double expected = second ? 1 : std::abs(rule.a);
            if (!second && (rule.gate == GateSite::Shortcut || rule.gate == GateSite::Input))
                expected *= std::abs(gate);
            if (rule.gate == GateSite::Output && !first) expected *= std::abs(gate);
            if (rule.post) {
                double gamma = 0, gain = 0;
                for (std::size_t i = 0; i < kWidth; ++i)
                    gamma += std::pow(model.parameters()[at.norm_post.weight + i], 2) / kWidth;
                for (std::size_t r = 0; r < kSequences * kTokens; ++r) {
                    const double* z = input.tape().sublayers[k].z + r * kWidth;
                    double mean = 0, variance = 0;
                    for (int i = 0; i < kWidth; ++i) mean += z[i] / kWidth;
                    for (int i = 0; i < kWidth; ++i) variance += (z[i] - mean) * (z[i] - mean) / kWidth;
                    gain += 1 / std::sqrt(variance + spec.norm.eps) / (kSequences * kTokens);
                }
                expected *= std::sqrt(gamma) * gain;
            }
            const double got = values(found, "shortcut_gain")[k];
            QVERIFY2(std::abs(got - expected) <= 1e-12 * expected,
                     qPrintable(QString("%1: %2, not %3").arg(k).arg(got).arg(expected)));
        }
    }

    /// Branches of unit variance, orthogonal to the stream and to each other: what reaches the last layer is
    /// 0.108 for DeepNorm's α on the shortcut, and 5.6e-10 for α on the branch.
    void whatTheShortcutsOfDeepNormCarry() {
        constexpr int depth = 12, width = 64;
        const double alpha = std::pow(2.0 * depth, 0.25);
        const auto share_of = [&](bool on_the_branch) {
            StackSpec s;
            s.depth = depth;
            s.d_model = width;
            s.heads = 1;
            s.context = 4;
            s.position = Position::None;
            s.scheme = on_the_branch ? Scheme::Custom : Scheme::DeepNorm;
            s.norm.eps = 1e-12;
            complete(s, 9);
            for (int layer = 0; on_the_branch && layer < depth; ++layer) {
                const RuleOverride rule{false, false, true, 1.0, alpha};
                s.layers.push_back({layer, rule, rule});
            }
            Transformer<double> model(s, 1);
            // Rows of a Hadamard matrix: of mean 0 (but for row 0), of entries ±1.
            const auto set = [&](std::size_t offset, std::size_t row) {
                for (std::size_t i = 0; i < width; ++i)
                    model.parameters()[offset + i] = std::popcount(row & i) % 2 == 0 ? 1 : -1;
            };
            for (std::size_t token = 0; token < 9; ++token)
                set(model.table().tok_emb + token * width, 25 + token);
            for (std::size_t layer = 0; layer < depth; ++layer) {
                const auto& attention = model.table().attention[layer];
                const auto& ffn = model.table().feed_forward[layer];
                const auto ffn_width = static_cast<std::size_t>(s.d_ff);
                std::fill_n(model.parameters().begin() + static_cast<std::ptrdiff_t>(attention.wo),
                            width * width, 0.0);
                std::fill_n(model.parameters().begin() + static_cast<std::ptrdiff_t>(ffn.w2),
                            ffn_width * width, 0.0);
                set(attention.bo, 1 + 2 * layer);
                set(ffn.b2, 2 + 2 * layer);
            }
            Batch batch{2, 4, {0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7, 8}};
            ProbeInput<double> input(model, batch, pool_, 0);
            const ProbeResult found = probe_residual(input);
            double share = 1;
            for (const double gain : values(found, "shortcut_gain")) share *= gain;
            return share;
        };
        const double right = share_of(false), wrong = share_of(true);
        QVERIFY2(near(right, std::pow(1 + 1 / (alpha * alpha), -depth), 1e-9),
                 qPrintable(QString("%1 %2").arg(right, 0, 'g', 12).arg(wrong)));
        QVERIFY(near(wrong, std::pow(1 + alpha * alpha, -depth), 1e-9));
        QVERIFY2(near(right, 0.108, 0.005) && near(wrong, 5.6e-10, 0.01),
                 qPrintable(QString("%1 %2").arg(right).arg(wrong)));
    }

    /// A branch that is multiplied by 0 has no direction, and gives the gradient nothing.
    void aClosedBranch() {
        StackSpec s = stack_of(Scheme::Pre, Layout::Serial);
        s.branch_scale = BranchScale::Scalar;
        s.branch_scale_init = 0;
        const Transformer<double> model(s, 3);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult found = probe_residual(input);
        for (std::size_t k = 0; k < 6; ++k) {
            QCOMPARE(values(found, "branch_ratio")[k], 0.0);
            QVERIFY(std::isnan(values(found, "branch_cosine")[k]));
            QCOMPARE(values(found, "grad_branch")[k], 1.0);
        }
    }
};

NORMSCOPE_TEST(ResidualTest)
#include "residual_test.moc"
