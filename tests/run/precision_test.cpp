// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in emulated precision and with every optimizer: watched by every probe, cut and resumed through a
// checkpoint file.
#include "core/base/error.h"
#include "core/findings/findings.h"
#include "core/run/experiment.h"
#include "core/train/overflow_event.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

namespace {

Recipe small_recipe(const std::string& keys) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 3, "steps": 12,
        "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 24}, )" +
                                     keys + "}",
                                 "test");
    complete_and_validate(recipe);
    for (ProbePlan& plan : recipe.probes) plan.every = 4;
    return recipe;
}

Experiment started(const Recipe& recipe) {
    return Experiment(recipe, "a", "test");
}

const NamedArray& array(const RunData& run, const char* probe, const char* name) {
    return *run.probes.at(probe).front().find(name);
}

}  // namespace

class PrecisionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void resumesBitForBit_data() {
        QTest::addColumn<QString>("keys");
        for (const char* precision : {"fp32", "tf32", "bf16", "fp16", "fp64"})
            for (const char* kind : {"adamw", "adam", "sgd", "muon"})
                QTest::addRow("%s %s", precision, kind)
                    << QString(R"("precision": "%1", "optimizer": {"kind": "%2"})").arg(precision, kind);
        for (const char* precision : {"bf16", "fp16"})
            QTest::addRow("%s autocast", precision)
                << QString(R"("precision": "%1", "precision_policy": "autocast")").arg(precision);
    }
    void resumesBitForBit() {
        QFETCH(QString, keys);
        const Recipe recipe = small_recipe(keys.toStdString());
        QTemporaryDir folder;
        const std::string file = folder.filePath("checkpoint.h5").toStdString();
        ThreadPool pool(2);
        auto whole = started(recipe), cut = started(recipe), resumed = started(recipe);
        RunData run = whole.header(), second = resumed.header();
        for (int i = 0; i < 5; ++i) append(run, whole.advance(pool)), cut.advance(pool);
        write_checkpoint(file, cut.checkpoint());
        resumed.restore(read_checkpoint(file));
        while (!whole.ended()) append(run, whole.advance(pool));
        while (!resumed.ended()) append(second, resumed.advance(pool));
        QCOMPARE(run.outcome.state, RunState::Finished);
        QCOMPARE(whole.checkpoint(), resumed.checkpoint());
        const auto &losses = *run.steps.find("loss"), &again = *second.steps.find("loss");
        QVERIFY(std::equal(again.begin(), again.end(), losses.begin() + 5));
        QCOMPARE(run.probes.size(), default_probes().size() + 1);  // and the flight recorder
    }

    /// Autocast is another arithmetic than pure BF16, nearer to FP32; the same bits on any number of threads;
    /// without effect where nothing is emulated.
    void thePolicy() {
        const auto trained = [](const std::string& keys, int threads) {
            ThreadPool pool(threads);
            auto experiment = started(small_recipe(keys));
            for (int i = 0; i < 6; ++i) experiment.advance(pool);
            return experiment.checkpoint().params;
        };
        const std::string autocast = R"("precision_policy": "autocast")";
        const auto low = trained(R"("precision": "bf16", )" + autocast, 1);
        QCOMPARE(low, trained(R"("precision": "bf16", )" + autocast, 2));
        QVERIFY(!(low == trained(R"("precision": "bf16", "precision_policy": "pure")", 1)));
        QVERIFY(!(low == trained(R"("precision": "fp32")", 1)));
        QCOMPARE(trained(R"("precision": "bf16")", 1),
                 trained(R"("precision": "bf16", "precision_policy": "pure")", 1));
        QCOMPARE(trained(R"("precision": "fp32")", 1), trained(R"("precision": "fp32", )" + autocast, 1));
        const auto tf32 = trained(R"("precision": "tf32")", 1);
        QCOMPARE(tf32, trained(R"("precision": "tf32", )" + autocast, 2));
        QVERIFY(!(tf32 == trained(R"("precision": "fp32")", 1)));
        QVERIFY_EXCEPTION_THROWN(small_recipe(R"("precision_policy": "mixed")"), InputError);
    }

    /// The scale is recorded, and an overflow is an event of a run that continues.
    void lossScaleAndOverflowsAreRecorded_data() {
        QTest::addColumn<QString>("policy");
        for (const char* policy : {"pure", "autocast"}) QTest::addRow("%s", policy) << policy;
    }
    void lossScaleAndOverflowsAreRecorded() {
        QFETCH(QString, policy);
        const Recipe recipe = small_recipe(
            QString(R"("precision": "fp16", "precision_policy": "%1")").arg(policy).toStdString());
        ThreadPool pool(1);
        auto experiment = started(recipe);
        Checkpoint checkpoint = experiment.checkpoint();
        for (auto& [name, value] : checkpoint.scalars)
            if (name == "loss_scale") value = 0x1p26;
        experiment.restore(checkpoint);
        RunData run = experiment.header();
        while (!experiment.ended()) append(run, experiment.advance(pool));
        const std::vector<double>& scale = *run.steps.find("loss_scale");
        QCOMPARE(scale.size(), std::size_t{12});
        QCOMPARE(scale[0], 0x1p26);
        std::size_t overflows = 0;
        for (const RunEvent& event : run.events) overflows += event.kind == "overflow";
        QVERIFY2(overflows > 0 && overflows < 12, qPrintable(QString::number(overflows)));
        // The first one names a tensor of the stack, and the finding repeats it.
        const auto first = std::find_if(run.events.begin(), run.events.end(),
                                        [](const RunEvent& event) { return event.kind == kOverflowEvent; });
        const std::string place = overflow_place(first->text);
        QVERIFY2(!place.empty(), first->text.c_str());
        const auto all = findings(run, 11);
        QVERIFY(std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
            return finding.text.ends_with("first at step 0, the gradient of " + place);
        }));
        QCOMPARE(scale.back(), std::ldexp(0x1p26, -static_cast<int>(overflows)));
        QVERIFY(!started(small_recipe(R"("precision": "bf16")")).header().steps.find("loss_scale"));
    }

    /// Gradients are measured as training sees them, without the scale.
    void probesSeeGradientsThroughTheScale() {
        ThreadPool pool(1);
        auto exact = started(small_recipe(R"("precision": "fp32")")),
             low = started(small_recipe(R"("precision": "fp16")"));
        RunData a = exact.header(), b = low.header();
        append(a, exact.advance(pool));
        append(b, low.advance(pool));
        for (const char* name : {"hidden", "params", "total"})
            for (std::size_t i = 0; i < array(a, "gradients", name).data.size(); ++i) {
                const double wanted = array(a, "gradients", name).data[i],
                             got = array(b, "gradients", name).data[i];
                QVERIFY2(std::abs(got / wanted - 1) < 2e-2,
                         qPrintable(QString("%1 %2 %3").arg(name).arg(got).arg(wanted)));
            }
    }

    /// Moments of another kind of optimizer are rejected in one line.
    void foreignMomentsAreRejected() {
        const auto sgd = started(small_recipe(R"("optimizer": {"kind": "sgd"})"));
        auto adamw = started(small_recipe(R"("optimizer": {"kind": "adamw"})"));
        QVERIFY_EXCEPTION_THROWN(adamw.restore(sgd.checkpoint()), InputError);
    }
};

NORMSCOPE_TEST(PrecisionTest)
#include "precision_test.moc"
