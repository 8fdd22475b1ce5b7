// SPDX-License-Identifier: GPL-3.0-or-later
// A run on a device whose memory the host cannot read (tests/backend/trapping_device.h): training, every
// probe, held-out loss, checkpoint, restored run and evaluation give the CPU's bits, for every scheme, block,
// gate site and precision.
#include "core/run/evaluation.h"
#include "core/run/experiment.h"
#include "tests/backend/trapping_device.h"
#include "tests/run/device_runs.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::device_runs;

namespace {

template <class T>
std::vector<StoredTensor> evaluated(const Recipe& recipe, Device& device) {
    ThreadPool pool(2);
    Batch batch{3, 7, {}, {}};
    for (int i = 0; i < 21; ++i) {
        batch.tokens.push_back(i * 5 % recipe.stack.vocab);
        batch.targets.push_back(i * 3 % recipe.stack.vocab);
    }
    if (recipe.stack.of_images())
        batch = make_corpus(recipe.train.data, recipe.stack)->held_out_batch(1, 0, 3, recipe.stack.context);
    const Transformer<T> model(recipe.stack, 3, device);
    return evaluate(recipe, model, batch, EvaluationParts{true, true}, pool).arrays;
}

}  // namespace

class OtherDeviceTest : public QObject {
    Q_OBJECT

    static void add_rows() {
        QTest::addColumn<QString>("row");
        for (const auto& [name, settings] : kRows)
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }

  private Q_SLOTS:
    void trainingProbesAndCheckpoints_data() { add_rows(); }
    void trainingProbesAndCheckpoints() {
        QFETCH(QString, row);
        const Recipe recipe = recipe_of(row.toStdString());
        TrappingDevice device;
        const Ran there = train(recipe, device), here = train(recipe, cpu_device());
        QCOMPARE(QString::fromStdString(difference(there.before, here.before)), QString());
        for (std::size_t i = 0; i < here.columns.size(); ++i)
            QVERIFY2(same_bits(there.columns[i].second, here.columns[i].second),
                     here.columns[i].first.c_str());
        QVERIFY(there.middle == here.middle);
        QVERIFY(there.last == here.last);
        QCOMPARE(QString::fromStdString(difference(there.after, here.after)), QString());
        QVERIFY(device.operations() > 1000);
    }

    void evaluation_data() { add_rows(); }
    void evaluation() {
        QFETCH(QString, row);
        const Recipe recipe = recipe_of(row.toStdString());
        TrappingDevice device;
        QVERIFY(evaluated<float>(recipe, device) == evaluated<float>(recipe, cpu_device()));
        QVERIFY(evaluated<double>(recipe, device) == evaluated<double>(recipe, cpu_device()));
    }

    /// What is looked up only when a run goes wrong, or when weights come from elsewhere.
    void divergedRunsAndGivenWeights() {
        Recipe recipe = recipe_of("gate at the output");
        recipe.train.optimizer.lr = 1e30;
        recipe.train.optimizer.clip = 0;
        TrappingDevice device;
        ThreadPool pool(2);
        const auto end_of = [&](Device& of) {
            Experiment experiment(recipe, "a", "test", nullptr, of);
            experiment.load_weights(Experiment(recipe, "b", "test", nullptr, of).checkpoint().params,
                                    "given");
            while (!experiment.ended()) experiment.advance(pool);
            return std::make_pair(experiment.outcome().text, experiment.warnings());
        };
        const auto there = end_of(device), here = end_of(cpu_device());
        QVERIFY2(here.first.find("step 1") != std::string::npos, here.first.c_str());
        QCOMPARE(there.first, here.first);
        QVERIFY(there.second == here.second);
    }
};

NORMSCOPE_TEST(OtherDeviceTest)
#include "other_device_test.moc"
