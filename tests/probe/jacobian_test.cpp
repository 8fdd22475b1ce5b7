// SPDX-License-Identifier: GPL-3.0-or-later
// The jacobian probe against explicit float64 Jacobians of the same weights, random, trained and rounded.
#include "core/probe/jacobian.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/probe/spectra/jacobian_plan.h"
#include "core/theory/norm_jacobian.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

using Vector = std::vector<double>;

constexpr int kVocab = 11, kWidth = 16, kDepth = 3;

StackSpec stack_of(Scheme scheme, NormKind kind, int length) {
    StackSpec s;
    s.depth = kDepth;
    s.d_model = kWidth;
    s.heads = 4;
    s.context = length;
    s.scheme = scheme;
    s.norm.kind = kind;
    complete(s, kVocab);
    return s;
}

Batch batch_of(int sequences, int length) {
    Batch batch{sequences, length, {}, {}};
    for (int i = 0; i < sequences * length; ++i) {
        batch.tokens.push_back((7 * i * i + 3 * (i / length)) % kVocab);
        batch.targets.push_back((5 * i + 1) % kVocab);
    }
    return batch;
}

/// The explicit [n·d, n·d] Jacobian of sequence 0, one pull-back of one cotangent a row.
Vector explicit_jacobian(const Transformer<double>& model, const Tape<double>& tape, int begin, int end) {
    const auto size = static_cast<std::size_t>(tape.length * model.spec().d_model);
    Vector matrix(size * size);
    for (std::size_t r = 0; r < size; ++r) {
        Vector row(size, 0.0);
        row[r] = 1;
        model.pull_back(tape, 0, begin, end, 1, Jacobian::Backprop, row.data());
        std::copy(row.begin(), row.end(), matrix.begin() + static_cast<std::ptrdiff_t>(r * size));
    }
    return matrix;
}

Vector values_of(const Vector& matrix) {
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    Vector values(size);
    singular_values(static_cast<int>(size), static_cast<int>(size), matrix.data(), values.data());
    return values;
}

/// The block of the last token, [d, d].
Vector last_block(const Vector& matrix, std::size_t d) {
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    Vector block;
    for (std::size_t r = size - d; r < size; ++r)
        block.insert(block.end(), matrix.begin() + static_cast<std::ptrdiff_t>(r * size + size - d),
                     matrix.begin() + static_cast<std::ptrdiff_t>((r + 1) * size));
    return block;
}

const Vector& array(const ProbeResult& result, const char* name) {
    const NamedArray* found = result.find(name);
    if (!found) qFatal("no array %s", name);
    return found->data;
}

/// Values so far below the largest that float64 does not tell them from 0; ε-directions lie far above.
int at_zero(const Vector& descending) {
    return static_cast<int>(std::count_if(descending.begin(), descending.end(),
                                          [&](double v) { return v <= 1e-12 * descending.front(); }));
}

/// The weights of a model a little away from where they start: gains, biases.
void disturb(Transformer<float>& model) {
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = 0; i < t.count; ++i)
                model.parameters()[t.offset + i] +=
                    static_cast<float>(0.3 * std::sin(static_cast<double>(3 * i + t.offset)));
}

/// The same weights, without the probe's own conversion.
Transformer<double> in_float64(const Transformer<float>& model) {
    Transformer<double> truth(model.spec(), 1);
    std::copy(model.parameters().begin(), model.parameters().end(), truth.parameters().begin());
    return truth;
}

enum class Weights { Random, Disturbed, Trained, Bf16 };

}  // namespace

class JacobianTest : public QObject {
    Q_OBJECT
    ThreadPool pool{2};

    /// 50 plain steps down the gradient, so large that the spectra move.
    void train(Transformer<float>& model, const Batch& batch) {
        Gradients<float> gradients;
        StepScratch<float> scratch;
        for (int step = 0; step < 50; ++step) {
            model.clear(gradients, batch.sequences);
            model.accumulate(batch, 1, gradients, scratch, pool);
            const double norm = model.reduce(gradients, pool);
            for (std::size_t i = 0; i < model.parameters().size(); ++i)
                model.parameters()[i] -=
                    static_cast<float>(0.5 / std::max(1.0, norm)) * gradients.total().data()[i];
        }
    }

    Transformer<float> model_of(const StackSpec& spec, Weights weights, const Batch& batch) {
        Transformer<float> model(spec, 5);
        if (weights == Weights::Disturbed) disturb(model);
        if (weights == Weights::Trained) train(model, batch);
        if (weights == Weights::Bf16) {
            model.set_rounding(Rounding::Bf16);
            const std::vector<float> exact(model.parameters().begin(), model.parameters().end());
            model.set_parameters(exact);
        }
        return model;
    }

    void add_cases() {
        QTest::addColumn<int>("scheme");
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("weights");
        QTest::addColumn<int>("length");
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri, Scheme::DeepNorm, Scheme::Mix})
            for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
                for (const Weights weights :
                     {Weights::Random, Weights::Disturbed, Weights::Trained, Weights::Bf16})
                    for (const int length : {12, 24})
                        QTest::addRow("%s %s weights %d tokens %d", word_of(scheme), word_of(kind),
                                      static_cast<int>(weights), length)
                            << static_cast<int>(scheme) << static_cast<int>(kind) << static_cast<int>(weights)
                            << length;
    }

  private Q_SLOTS:
    void againstTheExplicitMatrix_data() { add_cases(); }
    void againstTheExplicitMatrix() {
        QFETCH(int, scheme);
        QFETCH(int, kind);
        QFETCH(int, weights);
        QFETCH(int, length);
        const StackSpec spec = stack_of(static_cast<Scheme>(scheme), static_cast<NormKind>(kind), length);
        const Batch batch = batch_of(3, length);
        const auto model = model_of(spec, static_cast<Weights>(weights), batch);
        ProbeInput<float> input(model, batch, pool, 0);
        const ProbeResult result = probe_jacobian(input);

        const Transformer<double> truth = in_float64(model);
        Tape<double> tape;
        truth.forward(batch, tape, pool);
        const std::size_t d = kWidth;
        const auto check_full = [&](const Vector& exact, double top, double top_error, double bottom,
                                    double bottom_error) {
            // Round-off of the states, which the bars of an explicit matrix do not hold.
            const double slack = 1e-11 * exact.front();
            QVERIFY2(std::abs(exact.front() - top) <= top_error + slack,
                     qPrintable(QString("%1 ± %2, exact %3").arg(top).arg(top_error).arg(exact.front())));
            QVERIFY2(
                std::abs(exact.back() - bottom) <= bottom_error + slack,
                qPrintable(QString("%1 ± %2, exact %3").arg(bottom).arg(bottom_error).arg(exact.back())));
            QVERIFY(top_error <= 0.2 * exact.front());
        };
        const auto check_nulls = [&](const Vector& exact, double nulls, double below) {
            QCOMPARE(static_cast<int>(nulls + below), at_zero(exact));
        };
        for (std::size_t k = 0; k < 2 * kDepth; ++k) {
            const Vector matrix =
                explicit_jacobian(truth, tape, static_cast<int>(k), static_cast<int>(k) + 1);
            check_full(values_of(matrix), array(result, "full_top")[k], array(result, "full_top_error")[k],
                       array(result, "full_bottom")[k], array(result, "full_bottom_error")[k]);
            const Vector block = values_of(last_block(matrix, d));
            for (std::size_t i = 0; i < d; ++i)
                QVERIFY(std::abs(array(result, "sublayer_sv")[k * d + i] - block[i]) <= 1e-11 * block[0]);
            check_nulls(block, array(result, "exact_nulls")[k], array(result, "below_resolution")[k]);
        }
        Vector logs{0};
        for (std::size_t l = 0; l < kDepth; ++l) {
            Vector up_to =
                values_of(last_block(explicit_jacobian(truth, tape, 0, 2 * static_cast<int>(l) + 2), d));
            const double middle = (up_to[d / 2 - 1] + up_to[d / 2]) / 2;
            QVERIFY(std::abs(array(result, "cumulative_median")[l] - middle) <= 1e-10 * up_to[0]);
            logs.push_back(std::log(array(result, "cumulative_median")[l]));
        }
        // The least-squares slope over l = 0, 1, 2, 3: weights −3, −1, 1, 3 over 10.
        const double slope = (3 * logs[3] + logs[2] - logs[1] - 3 * logs[0]) / 10;
        const double found_slope = array(result, "cumulative_slope")[0];
        QVERIFY(std::isnan(found_slope) || std::abs(found_slope - slope) < 1e-12);
        const Vector whole = explicit_jacobian(truth, tape, 0, 2 * kDepth);
        check_full(values_of(whole), array(result, "full_end_to_end")[0],
                   array(result, "full_end_to_end_error")[0], array(result, "full_end_to_end")[1],
                   array(result, "full_end_to_end_error")[1]);
        const Vector block = values_of(last_block(whole, d));
        for (std::size_t i = 0; i < d; ++i)
            QVERIFY(std::abs(array(result, "end_to_end_sv")[i] - block[i]) <= 1e-10 * block[0]);
        check_nulls(block, array(result, "end_to_end_exact_nulls")[0],
                    array(result, "end_to_end_below_resolution")[0]);
        QCOMPARE(result.labels.at("full_map"), std::vector<std::string>{"whole sequence"});
    }

    /// Each token depends on all others: blocks of the last one, and its layers in both layouts.
    void withoutAMask_data() {
        QTest::addColumn<int>("layout");
        QTest::addColumn<int>("width");
        for (const int width : {kWidth, 64}) {
            QTest::addRow("serial, width %d", width) << static_cast<int>(Layout::Serial) << width;
            QTest::addRow("parallel, width %d", width) << static_cast<int>(Layout::Parallel) << width;
        }
    }
    void withoutAMask() {
        QFETCH(int, layout);
        QFETCH(int, width);
        constexpr int kTokens = 6;
        StackSpec spec = stack_of(Scheme::Pre, NormKind::LayerNorm, kTokens);
        spec.d_model = width;
        spec.d_ff = 4 * width;
        spec.causal = false;
        spec.layout = static_cast<Layout>(layout);
        const Batch batch = batch_of(2, kTokens);
        const auto model = model_of(spec, Weights::Trained, batch);
        ProbeInput<float> input(model, batch, pool, 0);
        const ProbeResult result = probe_jacobian(input);
        const Transformer<double> truth = in_float64(model);
        Tape<double> tape;
        truth.forward(batch, tape, pool);
        const auto d = static_cast<std::size_t>(width);
        const auto same = [&](const char* name, std::size_t at, int begin, int end) {
            const Vector exact = values_of(last_block(explicit_jacobian(truth, tape, begin, end), d));
            for (std::size_t i = 0; i < d; ++i)
                if (!(std::abs(array(result, name)[at * d + i] - exact[i]) <= 1e-10 * exact[0])) return false;
            return true;
        };
        for (int k = 0; k < 2 * kDepth && layout == static_cast<int>(Layout::Serial); ++k)
            QVERIFY2(same("sublayer_sv", static_cast<std::size_t>(k), k, k + 1),
                     qPrintable(QString::number(k)));
        for (int l = 0; l < kDepth; ++l)
            QVERIFY2(same("layer_sv", static_cast<std::size_t>(l), 2 * l, 2 * l + 2),
                     qPrintable(QString::number(l)));
        QVERIFY(same("end_to_end_sv", 0, 0, 2 * kDepth));
    }

    /// By the form alone: a LayerNorm after the sum loses the direction 1, an RMSNorm nothing; both keep ẑ by
    /// ε.
    void structureOfANull() {
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (const Weights weights : {Weights::Random, Weights::Bf16})
                for (const int dead : {0, 1, 3}) {
                    const bool centred = kind == NormKind::LayerNorm;
                    const Batch batch = batch_of(2, 8);
                    auto model = model_of(stack_of(Scheme::Post, kind, 8), weights, batch);
                    for (int i = 0; i < dead; ++i)
                        model.parameters()[model.table().attention[1].norm_post.weight +
                                           2 * static_cast<std::size_t>(i)] = 0;
                    ProbeInput<float> input(model, batch, pool, 0);
                    const ProbeResult result = probe_jacobian(input);
                    const int nulls = centred ? 1 : 0;
                    QCOMPARE(array(result, "exact_nulls")[0], double(nulls));
                    QCOMPARE(array(result, "epsilon_directions")[0], 1.0);
                    QCOMPARE(array(result, "exact_nulls")[2], double(std::max(nulls, dead)));
                    QCOMPARE(array(result, "epsilon_directions")[2],
                             double(std::max(0, nulls + 1 - std::max(nulls, dead))));
                    QCOMPARE(array(result, "end_to_end_exact_nulls")[0], double(std::max(nulls, dead)));
                    for (const double below : array(result, "below_resolution")) QCOMPARE(below, 0.0);
                }
    }

    /// σ of the ε-direction in N'·M lies between σ_min(M) and σ_max(M) times that of N', and that is the
    /// predicted one.
    void theEpsilonDirection() {
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (const Weights weights : {Weights::Random, Weights::Disturbed}) {
                const Batch batch = batch_of(1, 8);
                const StackSpec spec = stack_of(Scheme::Post, kind, 8);
                const auto model = model_of(spec, weights, batch);
                ProbeInput<float> input(model, batch, pool, 0);
                const ProbeResult result = probe_jacobian(input);
                const Transformer<double> truth(model, 0, kDepth, true);
                Tape<double> tape;
                truth.forward(batch, tape, pool);
                const std::size_t d = kWidth;
                for (std::size_t k = 0; k < 2 * kDepth; ++k) {
                    const SublayerOffsets& at =
                        k % 2 == 0 ? static_cast<const SublayerOffsets&>(truth.table().attention[k / 2])
                                   : static_cast<const SublayerOffsets&>(truth.table().feed_forward[k / 2]);
                    const std::span<const double> gamma = truth.parameters().subspan(at.norm_post.weight, d);
                    const std::span<const double> z{tape.sublayers[k].z + 7 * d, d};
                    const NormJacobian norm = kind == NormKind::LayerNorm
                                                  ? NormJacobian::layer_norm(z, gamma, truth.numerics.eps)
                                                  : NormJacobian::rms_norm(z, gamma, truth.numerics.eps);
                    const Vector of_norm = values_of(norm.dense());
                    const std::size_t place = d - (kind == NormKind::LayerNorm ? 2 : 1);
                    const double predicted = array(result, "epsilon_predicted")[k];
                    const double measured = array(result, "epsilon_sigma")[k];
                    // To first order in ε.
                    QVERIFY2(std::abs(predicted / of_norm[place] - 1) < 1e-3,
                             qPrintable(QString("%1 %2").arg(predicted).arg(of_norm[place])));
                    if (weights == Weights::Random)
                        QVERIFY(std::abs(predicted / (norm.gain() * norm.epsilon_effect()) - 1) < 1e-9);
                    if (k == 0 && weights == Weights::Random) {  // M is the same sub-layer without its norm
                        const Transformer<float> bare(stack_of(Scheme::None, kind, 8), 5);
                        const Transformer<double> sum(bare, 0, kDepth, true);
                        Tape<double> bare_tape;
                        sum.forward(batch, bare_tape, pool);
                        const Vector m = values_of(last_block(explicit_jacobian(sum, bare_tape, 0, 1), d));
                        QVERIFY2(measured <= 1.001 * m.front() * predicted &&
                                     measured >= 0.999 * m.back() * predicted,
                                 qPrintable(QString("%1 %2").arg(measured).arg(predicted)));
                    }
                    QVERIFY(
                        array(result, "sublayer_sv")[(k + 1) * d - 1 -
                                                     static_cast<std::size_t>(kind == NormKind::LayerNorm)] ==
                        measured);
                }
            }
    }

    void otherTokensAndSequences() {
        const Batch batch = batch_of(5, 16);
        const auto model = model_of(stack_of(Scheme::Pre, NormKind::LayerNorm, 16), Weights::Random, batch);
        ProbeInput<float> input(model, batch, pool, 0);
        const ProbeResult result = probe_jacobian(input);
        QCOMPARE(result.labels.at("positions"), (std::vector<std::string>{"2", "4", "8", "16"}));
        const Transformer<double> truth(model, 0, kDepth, true);
        const std::size_t d = kWidth, P = 4;
        for (std::size_t p = 0; p < P; ++p) {
            Tape<double> tape;
            const int tokens = std::stoi(result.labels.at("positions")[p]);
            truth.forward(Batch{1, tokens, {batch.tokens.begin(), batch.tokens.begin() + tokens}, {}}, tape,
                          pool);
            const Vector block = values_of(last_block(explicit_jacobian(truth, tape, 2, 3), d));
            for (std::size_t i = 0; i < d; ++i)
                QVERIFY(std::abs(array(result, "position_sv")[(2 * P + p) * d + i] - block[i]) <
                        1e-11 * block[0]);
        }
        QCOMPARE(array(result, "end_to_end_top").size(), 5u);
        QVERIFY(std::abs(array(result, "end_to_end_top")[0] / array(result, "end_to_end_sv")[0] - 1) < 1e-4);
        QVERIFY(array(result, "end_to_end_top")[1] != array(result, "end_to_end_top")[0]);
        for (const double error : array(result, "mean_sv_error")) QVERIFY(std::isfinite(error));
    }

    /// What exceeds the budget is skipped and labelled; it depends on the shape alone.
    void aWideStackMeasuresLess() {
        StackSpec wide;
        wide.depth = 12;
        wide.d_model = 768;
        wide.heads = 12;
        wide.context = 256;
        complete(wide, 256);
        const JacobianPlan plan = plan_jacobian(wide, 256, 8);
        QVERIFY(!plan.whole);
        QCOMPARE(plan.layers, (std::vector<int>{0, 11}));
        StackSpec usual;
        complete(usual, 27);
        QVERIFY(plan_jacobian(usual, 64, 8).whole);
        QVERIFY(plan_jacobian(usual, 64, 8).prefix >= 4);  // few tokens, but both ends to rounding
    }

    /// A layer of its own: the rule that its place in the whole stack gave it, from the hidden state that it
    /// starts from.
    void anExcerptIsTheSameLayer() {
        for (const Scheme scheme : {Scheme::Mix, Scheme::Lns, Scheme::DeepNorm}) {
            StackSpec spec = stack_of(scheme, NormKind::LayerNorm, 8);
            spec.mix_post_fraction = 0.4;  // one of three layers
            const Batch batch = batch_of(1, 8);
            const Transformer<double> whole(spec, 3);
            Tape<double> tape, part;
            whole.forward(batch, tape, pool);
            for (int layer = 0; layer < kDepth; ++layer) {
                const Transformer<double> excerpt(whole, layer, 1, false);
                const auto k = 2 * static_cast<std::size_t>(layer);
                excerpt.forward_layers(tape.hidden[k], 8, part, pool);
                for (std::size_t i = 0; i < 8 * kWidth; ++i)
                    QVERIFY(std::abs(part.hidden[2][i] - tape.hidden[k + 2][i]) < 1e-12);
            }
        }
    }

    void aDivergedModelGivesNaN() {
        const Batch batch = batch_of(2, 8);
        auto model = model_of(stack_of(Scheme::Post, NormKind::LayerNorm, 8), Weights::Random, batch);
        model.parameters()[model.table().attention[0].wo] = std::numeric_limits<float>::quiet_NaN();
        ProbeInput<float> input(model, batch, pool, 0);
        const ProbeResult result = probe_jacobian(input);
        for (const char* name : {"end_to_end_exact_nulls", "full_end_to_end", "end_to_end_sv"})
            for (const double value : array(result, name)) QVERIFY2(std::isnan(value), name);
        QVERIFY(std::isnan(array(result, "exact_nulls")[0]));
    }
};

NORMSCOPE_TEST(JacobianTest)
#include "jacobian_test.moc"
