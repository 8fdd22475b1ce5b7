// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/precision/mismatch.h"

#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <tuple>

using namespace normscope;

namespace {

StackSpec small_stack() {
    StackSpec s;
    s.depth = 3;
    s.d_model = 12;
    s.heads = 3;
    s.context = 6;
    complete(s, 17);
    return s;
}

Batch small_batch(int sequences = 2) {
    Batch batch{sequences, 6, {}, {}};
    for (int i = 0; i < 6 * sequences; ++i) batch.tokens.push_back((5 * i + i * i / 7 + 2) % 17);
    return batch;
}

template <class T>
ProbeResult measure(const Transformer<T>& model, const Batch& batch = small_batch()) {
    ThreadPool pool(1);
    ProbeInput<T> input(model, batch, pool, 0);
    return run_probe(*find_probe("mismatch"), input);
}

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

std::vector<double> values(const ProbeResult& result, const char* name) {
    return result.find(name)->data;
}

}  // namespace

class MismatchTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The first hidden state is one sum: its error can be written down.
    void theEmbeddingsErrorIsItsRounding() {
        const Transformer<float> model(small_stack(), 3);
        const Batch batch = small_batch();
        const auto result = measure(model);
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16}) {
            const char* name = rounding == Rounding::Bf16 ? "bf16_hidden" : "fp16_hidden";
            double difference = 0, whole = 0;
            for (std::size_t r = 0; r < 12; ++r)
                for (std::size_t i = 0; i < 12; ++i) {
                    const auto token = static_cast<std::size_t>(batch.tokens[r]);
                    const float a = model.parameters()[model.table().tok_emb + token * 12 + i];
                    const float b = model.parameters()[model.table().pos_emb + r % 6 * 12 + i];
                    const double exact = static_cast<double>(a + b);
                    const double low =
                        static_cast<double>(rounded(rounding, rounded(rounding, a) + rounded(rounding, b)));
                    difference += (low - exact) * (low - exact);
                    whole += exact * exact;
                }
            QCOMPARE(values(result, name).at(0), std::sqrt(difference / whole));
            QCOMPARE(values(result, name).size(), std::size_t{7});
        }
    }

    void chosenFormatsAreMeasuredAloneAndTheSame() {
        const Transformer<float> model(small_stack(), 3);
        const ProbeResult all = measure(model);
        for (const FormatInfo& format : find_probe("mismatch")->formats) {
            const std::string chosen = format.name;
            ThreadPool pool(1);
            const Batch batch = small_batch();
            ProbeInput<float> narrowed(model, batch, pool, 0);
            narrowed.formats["mismatch"] = {chosen};
            const ProbeResult part = run_probe(*find_probe("mismatch"), narrowed);
            QCOMPARE(part.labels.at("formats"), std::vector<std::string>{chosen});
            QCOMPARE(part.arrays.size(), all.arrays.size());
            int measured = 0;
            for (const NamedArray& array : part.arrays) {
                const auto begins = [&](const std::string& with) { return array.name.rfind(with, 0) == 0; };
                const bool of_split =
                    begins("split_") || begins("remainder_") || begins("only_") || begins("without_");
                const bool of_it = chosen == "split"
                                       ? of_split
                                       : begins(chosen + "_hidden") || begins(chosen + "_logits") ||
                                             begins(chosen + "_gamma") || begins(chosen + "_weights");
                const std::vector<double> whole = values(all, array.name.c_str());
                QCOMPARE(array.data.size(), whole.size());
                for (std::size_t i = 0; i < whole.size(); ++i) {
                    QVERIFY2(of_it ? same(array.data[i], whole[i]) : std::isnan(array.data[i]),
                             (chosen + " " + array.name).c_str());
                    measured += of_it && std::isfinite(whole[i]);
                }
            }
            QVERIFY2(measured > 1, chosen.c_str());
        }
    }

    /// Under autocast the embedding is a float32 sum of float32 weights.
    void autocastsEmbeddingIsExact() {
        const auto result = measure(Transformer<float>(small_stack(), 3));
        for (const char* name : {"bf16_autocast_hidden", "fp16_autocast_hidden"}) {
            QCOMPARE(values(result, name).size(), std::size_t{7});
            QCOMPARE(values(result, name).at(0), 0.0);
            for (std::size_t k = 1; k < 7; ++k) QVERIFY(values(result, name)[k] > 0);
        }
    }

    /// Against passes made here, sequence by sequence: with two of them the jackknife's error is half their
    /// difference.
    void valuesAndErrorsOverTheSequences() {
        const Transformer<float> exact(small_stack(), 3);
        const Batch batch = small_batch();
        const auto result = measure(exact);
        ThreadPool pool(1);
        Tape<float> wanted, got;
        exact.forward(batch, wanted, pool);
        for (const auto& [name, rounding, policy] :
             {std::tuple("bf16", Rounding::Bf16, PrecisionPolicy::Pure),
              std::tuple("fp16", Rounding::Fp16, PrecisionPolicy::Pure),
              std::tuple("bf16_autocast", Rounding::Bf16, PrecisionPolicy::Autocast),
              std::tuple("fp16_autocast", Rounding::Fp16, PrecisionPolicy::Autocast)}) {
            Transformer<float> low = exact;
            low.set_rounding(rounding, policy);
            low.set_parameters(exact.parameters());
            low.forward(batch, got, pool);
            const auto check = [&](const std::string& array, const float* a, const float* b,
                                   std::size_t count, std::size_t k) {
                double difference[2] = {0, 0}, whole[2] = {0, 0};
                for (std::size_t i = 0; i < 2 * count; ++i) {
                    difference[i / count] += std::pow(double(a[i]) - double(b[i]), 2);
                    whole[i / count] += std::pow(double(b[i]), 2);
                }
                const double value = std::sqrt((difference[0] + difference[1]) / (whole[0] + whole[1])),
                             error = std::abs(std::sqrt(difference[0] / whole[0]) -
                                              std::sqrt(difference[1] / whole[1])) /
                                     2;
                QCOMPARE(values(result, array.c_str()).at(k), value);
                QCOMPARE(values(result, (array + "_error").c_str()).at(k), error);
            };
            for (std::size_t k = 1; k < 7; ++k)
                check(std::string(name) + "_hidden", got.hidden[k], wanted.hidden[k], 6 * 12, k);
            check(std::string(name) + "_logits", got.logits, wanted.logits, 6 * 17, 0);
            QVERIFY(values(result, (std::string(name) + "_logits_error").c_str()).at(0) > 0);
        }
    }

    /// The first two sequences of a larger batch, and the result is labelled so; one sequence alone has no
    /// error.
    void whatWasSampled() {
        const Transformer<float> model(small_stack(), 3);
        const auto two = measure(model, small_batch(2)), five = measure(model, small_batch(5)),
                   one = measure(model, small_batch(1));
        QCOMPARE(five.labels.at("sampled"), std::vector<std::string>{"2 of 5 sequences"});
        QCOMPARE(two.labels.at("sampled"), std::vector<std::string>{"2 of 2 sequences"});
        QCOMPARE(one.labels.at("sampled"), std::vector<std::string>{"1 of 1 sequences"});
        for (const NamedArray& array : two.arrays)
            for (std::size_t i = 0; i < array.data.size(); ++i)
                // The exact pass is cut into other shards.
                QVERIFY2(
                    std::abs(five.find(array.name)->data[i] - array.data[i]) <=
                        1e-3 * std::abs(array.data[i]) + (array.name.starts_with("remainder") ? 1e-3 : 1e-9),
                    array.name.c_str());
        QVERIFY(std::isnan(values(one, "bf16_logits_error").at(0)));
        QVERIFY(values(one, "bf16_logits").at(0) > 0);
    }

    void errorsAreOfTheFormatsSize() {
        const auto result = measure(Transformer<float>(small_stack(), 3));
        for (double error : values(result, "bf16_hidden")) QVERIFY(error > 1e-4 && error < 3e-2);
        for (double error : values(result, "fp16_hidden")) QVERIFY(error > 1e-5 && error < 4e-3);
        QVERIFY(values(result, "bf16_logits").at(0) > 3 * values(result, "fp16_logits").at(0));
    }

    void float64IsMeasuredInFloat32() {
        const auto single = measure(Transformer<float>(small_stack(), 3));
        Transformer<double> wide(small_stack(), 3);
        const auto from_wide = measure(wide);
        for (const NamedArray& array : single.arrays) QCOMPARE(from_wide.find(array.name)->data, array.data);
        wide.numerics.residual_step = 0.1;
        QVERIFY(values(measure(wide), "bf16_logits") != values(single, "bf16_logits"));
    }

    /// Of a model in BF16 the weights are in BF16 already; its FP32 pass is one without rounding.
    void aModelInLowPrecision() {
        Transformer<float> model(small_stack(), 3);
        const std::vector<float> weights(model.parameters().begin(), model.parameters().end());
        model.set_rounding(Rounding::Bf16);
        model.set_parameters(weights);
        const auto result = measure(model);
        QVERIFY(values(result, "bf16_logits").at(0) > 1e-4);
        QVERIFY(model.rounding() == Rounding::Bf16);

        // Under autocast the weights are float32: the same as of the model without rounding.
        Transformer<float> autocast(small_stack(), 3);
        const auto wanted = measure(autocast);
        autocast.set_rounding(Rounding::Bf16, PrecisionPolicy::Autocast);
        const auto got = measure(autocast);
        for (const NamedArray& array : wanted.arrays) QCOMPARE(got.find(array.name)->data, array.data);
        QVERIFY(autocast.policy() == PrecisionPolicy::Autocast);
    }

    void overflowIsNan() {
        Transformer<float> model(small_stack(), 3);
        model.numerics.residual_step = 1e6;
        const auto result = measure(model);
        QVERIFY(std::isnan(values(result, "fp16_logits").at(0)));
        QVERIFY(std::isnan(values(result, "fp16_logits_error").at(0)));
        QVERIFY(std::isfinite(values(result, "bf16_logits").at(0)));
        // The stream stays float32 under autocast: nothing overflows.
        QVERIFY(std::isfinite(values(result, "fp16_autocast_logits").at(0)));
    }
};

NORMSCOPE_TEST(MismatchTest)
#include "mismatch_test.moc"
