// SPDX-License-Identifier: GPL-3.0-or-later
// The count of a training step without a card: calls and bytes of named shapes are held, the operations of
// its products are the closed form, and a stack's calls are those of the emulated device's graph. What a
// kernel moves is held by train_step_traffic.
#include "core/run/step_count.h"

#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/base/error.h"
#include "core/run/complete.h"
#include "core/train/trainer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

Recipe recipe_of(std::vector<std::string> settings) {
    settings.emplace_back("validate.every=0");
    Recipe recipe = read_recipe("pre-ln", settings);
    complete_and_validate(recipe);
    return recipe;
}

Recipe shape(int depth, int width, int heads, int context, int batch, int vocab, const char* precision,
             bool tied) {
    const auto set = [](const char* key, int value) {
        return std::string(key) + "=" + std::to_string(value);
    };
    return recipe_of({set("stack.depth", depth), set("stack.d_model", width), set("stack.heads", heads),
                      set("stack.context", context), set("batch", batch), set("stack.vocab", vocab),
                      tied ? "stack.tied_head=true" : "stack.tied_head=false",
                      std::string("precision=") + precision, "precision_policy=autocast"});
}

}  // namespace

class StepCountTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void callsAndBytesAreHeld_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("vocab");
        QTest::addColumn<bool>("tied");
        QTest::addColumn<QString>("precision");
        QTest::addColumn<int>("calls");
        QTest::addColumn<double>("gigabytes");
        QTest::newRow("L4 d128, bf16") << 4 << 128 << 4 << 128 << 32 << 256 << false << "bf16" << 100 << 0.56;
        QTest::newRow("L4 d128, fp32") << 4 << 128 << 4 << 128 << 32 << 256 << false << "fp32" << 99 << 0.98;
        QTest::newRow("L6 d256, bf16") << 6 << 256 << 8 << 256 << 32 << 256 << false << "bf16" << 143 << 3.25;
        QTest::newRow("L6 d256, fp32") << 6 << 256 << 8 << 256 << 32 << 256 << false << "fp32" << 142 << 5.75;
        QTest::newRow("124M tied, bf16")
            << 12 << 768 << 12 << 1024 << 8 << 50257 << true << "bf16" << 273 << 28.2;
    }
    void callsAndBytesAreHeld() {
        QFETCH(int, depth);
        QFETCH(int, width);
        QFETCH(int, heads);
        QFETCH(int, context);
        QFETCH(int, batch);
        QFETCH(int, vocab);
        QFETCH(bool, tied);
        QFETCH(QString, precision);
        QFETCH(int, calls);
        QFETCH(double, gigabytes);
        const Recipe recipe =
            shape(depth, width, heads, context, batch, vocab, precision.toUtf8().constData(), tied);
        const StepCount count = count_step(recipe, card_named("h100"));
        QVERIFY2(count.calls <= static_cast<std::size_t>(calls), qPrintable(QString::number(count.calls)));
        QVERIFY2(count.bytes <= gigabytes * 1e9, qPrintable(QString::number(count.bytes)));
        // A product for each row of the batch: forward, its gradient, the weights' gradient. In 16 bits the
        // head has classes up to a multiple of 8.
        const double rows = static_cast<double>(batch) * context, d = width;
        const double classes = precision == "bf16" ? (vocab + 7) / 8 * 8 : vocab;
        double gemms = 0, floor = 0, bytes = 0;
        for (const CountedOperation& o : count.operations) {
            if (o.name == "gemm") gemms += o.flops;
            floor += o.counted_seconds;
            bytes += o.bytes;
            QVERIFY(o.counted_seconds >= 0.999 * static_cast<double>(o.calls) * kLaunchSeconds);
            QVERIFY(o.counted_seconds >= 0.999 * o.bytes / card_named("h100").bandwidth);
        }
        QCOMPARE(gemms, 6 * rows * (12 * depth * d * d + classes * d));
        QVERIFY(std::abs(floor - count.counted_seconds) < 1e-12 && std::abs(bytes - count.bytes) < 1);
        QVERIFY(std::is_sorted(
            count.operations.begin(), count.operations.end(),
            [](const auto& a, const auto& b) { return a.counted_seconds > b.counted_seconds; }));
    }

    /// The calls of a graph, and those of a step around it: none but the copies of its batch and report.
    void callsAreThoseOfTheGraph() {
        for (const char* precision : {"fp32", "bf16"}) {
            const Recipe recipe = shape(2, 16, 2, 8, 2, 27, precision, false);
            EmulatedCudaDevice device({grid::Schedule::Order::Ascending, 1, false}, 0);
            const auto trainer = make_trainer(recipe.stack, recipe.train,
                                              make_corpus(recipe.train.data, recipe.stack), device);
            ThreadPool pool(1);
            std::visit([&](const auto& t) { t->steps(pool, 3); }, trainer);
            QCOMPARE(count_step(recipe, cards().front()).calls, device.captured_calls());
        }
    }

    void textsHaveThreeDigits() {
        StepCount count;
        count.seconds = {0.002, 0.0004, 0.1};
        const auto text = [&](double seconds) {
            count.counted_seconds = seconds;
            TrainSpec train;
            train.batch = 8;
            StackSpec stack;
            stack.context = 1024;
            return QString::fromStdString(time_text(count, train, stack));
        };
        QVERIFY2(text(0.1116).startsWith(
                     "112 ms by count, 8.96 steps/s, 73400 tokens/s; limited by arithmetic 90 %"),
                 qPrintable(text(0.1116)));
        QVERIFY2(text(0.000286).startsWith("0.286 ms by count, 3500 steps/s, 28.6 million tokens/s"),
                 qPrintable(text(0.000286)));
    }

    /// A card with more bandwidth needs no longer; one that is unknown is named.
    void cardsAreCompared() {
        const Recipe recipe = shape(2, 64, 2, 32, 4, 64, "bf16", false);
        QVERIFY(count_step(recipe, card_named("h200")).counted_seconds <=
                count_step(recipe, card_named("h100")).counted_seconds);
        QVERIFY(count_step(recipe, card_named("h100")).counted_seconds <=
                count_step(recipe, card_named("rtx4090")).counted_seconds);
        try {
            card_named("h1");
            QFAIL("accepted");
        } catch (const InputError& error) {
            QVERIFY2(QString::fromUtf8(error.what()).contains("allowed: h100, h200"), error.what());
        }
    }
};

NORMSCOPE_TEST(StepCountTest)
#include "step_count_test.moc"
