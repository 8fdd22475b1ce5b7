// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/mismatch.h"

#include <QtTest>
#include <cmath>

#include "core/probe/registry.h"

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

Batch small_batch() {
    Batch batch{2, 6, {}, {}};
    for (int i = 0; i < 12; ++i) batch.tokens.push_back((5 * i + 2) % 17);
    return batch;
}

template <class T>
ProbeResult measure(const Transformer<T>& model) {
    ThreadPool pool(1);
    const Batch batch = small_batch();
    ProbeInput<T> input(model, batch, pool, 0);
    return run_probe(*find_probe("mismatch"), input);
}

std::vector<double> values(const ProbeResult& result, const char* name) { return result.find(name)->data; }

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
                    const double low = static_cast<double>(rounded(rounding, rounded(rounding, a) + rounded(rounding, b)));
                    difference += (low - exact) * (low - exact);
                    whole += exact * exact;
                }
            QCOMPARE(values(result, name).at(0), std::sqrt(difference / whole));
            QCOMPARE(values(result, name).size(), std::size_t{7});
        }
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
    }

    void overflowIsNan() {
        Transformer<float> model(small_stack(), 3);
        model.numerics.residual_step = 1e6;
        const auto result = measure(model);
        QVERIFY(std::isnan(values(result, "fp16_logits").at(0)));
        QVERIFY(std::isfinite(values(result, "bf16_logits").at(0)));
    }
};

QTEST_GUILESS_MAIN(MismatchTest)
#include "mismatch_test.moc"
