// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/attention_rows.h"

#include "core/probe/registry.h"
#include "tests/probe/attention_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::attention_model;

namespace {

/// The probe against sums written out over the tape; the logits must also give the tape's probabilities.
template <class T>
void check(const StackSpec& spec, double temperature, double tolerance) {
    auto model = model_of<T>(spec, 11);
    model.numerics.temperature = temperature;
    ThreadPool pool(2);
    const int B = 3, n = spec.context, dh = spec.d_head(), d_q = spec.heads * dh,
              width = d_q + 2 * spec.d_kv();
    const Batch batch = batch_of(B, n);
    ProbeInput<T> input(model, batch, pool, 0);
    const auto result = run_probe(*find_probe("attention"), input);
    for (int layer = 0; layer < spec.depth; ++layer)
        for (int head = 0; head < spec.heads; ++head) {
            const T* qkv = input.tape().sublayers[2 * static_cast<std::size_t>(layer)].qkv;
            double largest = 0, contraction = 0;
            std::vector<double> entropy, sink;
            for (int b = 0; b < B; ++b) {
                double entropies = 0, sinks = 0, longest = 0, longest_mixed = 0;
                for (int i = 0; i < n; ++i) {
                    const auto p = row_of(input, static_cast<std::size_t>(layer), b,
                                          static_cast<std::size_t>(head), static_cast<std::size_t>(i));
                    std::vector<double> score;
                    for (int j = 0; j <= i; ++j) {
                        const int group = spec.heads / spec.kv_heads;
                        double dot = 0;
                        for (int c = 0; c < dh; ++c)
                            dot +=
                                static_cast<double>(qkv[(b * n + i) * width + head * dh + c]) *
                                static_cast<double>(qkv[(b * n + j) * width + d_q + head / group * dh + c]);
                        score.push_back(dot / (temperature * std::sqrt(static_cast<double>(dh))));
                        largest = std::max(largest, std::abs(score.back()));
                    }
                    double total = 0, h = 0;
                    for (const double s : score) total += std::exp(s);
                    for (std::size_t j = 0; j < score.size(); ++j) {
                        QVERIFY(std::abs(std::exp(score[j]) / total - static_cast<double>(p[j])) <
                                10 * tolerance);
                        h -= static_cast<double>(p[j]) * std::log(static_cast<double>(p[j]));
                    }
                    // A·V from the probabilities, not from what the pass mixed.
                    double squares = 0, mixed_squares = 0;
                    for (int c = 0; c < dh; ++c) {
                        const auto value = [&](int j) {
                            const int column =
                                d_q + spec.d_kv() + head / (spec.heads / spec.kv_heads) * dh + c;
                            return static_cast<double>(qkv[(b * n + j) * width + column]);
                        };
                        double mixed = 0;
                        for (int j = 0; j <= i; ++j)
                            mixed += static_cast<double>(p[static_cast<std::size_t>(j)]) * value(j);
                        squares += value(i) * value(i);
                        mixed_squares += mixed * mixed;
                    }
                    longest = std::max(longest, std::sqrt(squares));
                    longest_mixed = std::max(longest_mixed, std::sqrt(mixed_squares));
                    if (i == 0) continue;
                    entropies += h / std::log(i + 1.0) / (n - 1);
                    sinks += static_cast<double>(p[0]) / (n - 1);
                }
                contraction = std::max(contraction, longest_mixed / longest);
                entropy.push_back(entropies);
                sink.push_back(sinks);
            }
            const auto at = static_cast<std::size_t>(layer * spec.heads + head);
            QVERIFY(std::abs(values(result, "entropy").at(at) - mean_of(entropy)) < tolerance);
            QVERIFY(std::abs(values(result, "sink_mass").at(at) - mean_of(sink)) < tolerance);
            QVERIFY(std::abs(values(result, "max_logit").at(at) / largest - 1) < tolerance);
            QVERIFY(std::abs(values(result, "contraction").at(at) - contraction) < tolerance);
            double squares = 0;  // of means of equal weight the jackknife error is their standard error
            for (const double e : entropy) squares += (e - mean_of(entropy)) * (e - mean_of(entropy));
            QVERIFY(std::abs(values(result, "entropy_error").at(at) - std::sqrt(squares / (B * (B - 1)))) <
                    tolerance);
        }
}

}  // namespace

class AttentionRowsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void againstSumsOverTheTape() {
        check<double>(stack_of(2, 4, 37), 1, 1e-12);
        check<float>(stack_of(2, 4, 37), 1, 2e-6);
    }

    /// Grouped key heads, norms on q and k, rotary positions, a temperature.
    void ofALlamaStack() {
        StackSpec spec = stack_of(2, 4, 37);
        spec.block = Block::Llama;
        spec.kv_heads = 2;
        spec.qk_norm = QkNorm::Head;
        spec.position = Position::Rope;
        check<double>(spec, 1.7, 1e-12);
        spec.head_width = 12;
        check<double>(spec, 1.7, 1e-12);
        spec.head_width = 2;
        check<double>(spec, 1.7, 1e-12);
    }

    void uniformAttentionHasEntropyOne() {
        auto model = model_of<float>(stack_of(2, 2, 64), 1);
        silence_queries(model);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 64);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("attention"), input);
        double sink = 0;
        for (int length = 2; length <= 64; ++length) sink += 1.0 / length / 63;
        for (std::size_t at = 0; at < 4; ++at) {
            QVERIFY(std::abs(values(result, "entropy").at(at) - 1) < 1e-6);
            QVERIFY(std::abs(values(result, "sink_mass").at(at) - sink) < 1e-6);
            QCOMPARE(values(result, "max_logit").at(at), 0.0);
        }
    }

    /// Probabilities rounded to BF16 do not sum to 1; the entropy of uniform rows is 1 all the same.
    void emulatedRowsAreNormalised() {
        auto model = model_of<float>(stack_of(2, 2, 64), 1);
        silence_queries(model);
        model.set_rounding(Rounding::Bf16);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 64);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("attention"), input);
        for (const double entropy : values(result, "entropy"))
            QVERIFY2(std::abs(entropy - 1) < 1e-6, qPrintable(QString::number(entropy - 1)));
    }

    /// [E] Lemma 3.2 on random weights of every scheme, in float64, float32 and emulated BF16; values that
    /// are all alike reach 1, values of 0 have no ratio.
    void noHeadExpandsItsValues() {
        const auto most = [](const ProbeResult& result) {
            const auto& ratios = values(result, "contraction");
            return *std::max_element(ratios.begin(), ratios.end());
        };
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 24);
        for (int scheme = 0; scheme <= static_cast<int>(Scheme::Custom); ++scheme)
            for (std::uint64_t seed = 0; seed < 5; ++seed) {
                StackSpec spec = stack_of(3, 2, 24);
                spec.scheme = static_cast<Scheme>(scheme);
                const auto exact = model_of<double>(spec, seed);
                ProbeInput<double> of_exact(exact, batch, pool, 0);
                QVERIFY(most(probe_attention(of_exact)) <= 1 + 1e-12);
                auto model = model_of<float>(spec, seed);
                ProbeInput<float> of_single(model, batch, pool, 0);
                QVERIFY(most(probe_attention(of_single)) <= 1 + 1e-5);
                model.set_rounding(Rounding::Bf16);
                ProbeInput<float> rounded(model, batch, pool, 0);
                QVERIFY(most(probe_attention(rounded)) <= 1 + 0x1p-7);
            }
        auto model = model_of<double>(stack_of(1, 2, 24), 3);
        change_tensors(model, "attn.wv", [](double& w) { w = 0; });
        ProbeInput<double> of_bias(model, batch, pool, 0);
        const ProbeResult none = probe_attention(of_bias);
        for (const double ratio : values(none, "contraction")) QVERIFY(std::isnan(ratio));
        change_tensors(model, "attn.bv", [](double& b) { b = 0.5; });
        ProbeInput<double> alike(model, batch, pool, 0);  // all values alike
        const ProbeResult one = probe_attention(alike);
        for (const double ratio : values(one, "contraction")) QVERIFY(std::abs(ratio - 1) < 1e-14);
    }

    void aHeadThatIsNotFiniteIsNan() {
        auto model = model_of<float>(stack_of(2, 2, 12), 5);
        spoil_query(model, 8);  // the second head of the first layer
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 12);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("attention"), input);
        for (const NamedArray& array : result.arrays) {
            QCOMPARE(array.shape, (std::vector<std::size_t>{2, 2}));
            QVERIFY2(std::isfinite(array.data[0]), array.name.c_str());
            for (std::size_t at = 1; at < 4; ++at) QVERIFY2(std::isnan(array.data[at]), array.name.c_str());
        }
    }

    void oneTokenHasALogitAndNoEntropy() {
        const auto model = model_of<float>(stack_of(1, 2, 1), 5);
        ThreadPool pool(1);
        const Batch batch = batch_of(2, 1);
        ProbeInput<float> input(model, batch, pool, 0);
        const auto result = run_probe(*find_probe("attention"), input);
        QVERIFY(std::isnan(values(result, "entropy").at(0)));
        QVERIFY(values(result, "max_logit").at(0) > 0);
    }
};

NORMSCOPE_TEST(AttentionRowsTest)
#include "attention_rows_test.moc"
