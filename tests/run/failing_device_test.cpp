// SPDX-License-Identifier: GPL-3.0-or-later
// A run on a device that has no memory left, is lost, or lacks a format: the run ends with one line, what it
// recorded is complete, and it is continued on the CPU from its last checkpoint.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/shared/out_of_memory.h"
#include "core/run/memory_need.h"
#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;
using Fault = EmulatedCudaDevice::Fault;

namespace {

/// With the memory and the formats of a smaller card.
class SmallCard final : public EmulatedCudaDevice {
  public:
    SmallCard() : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}) {}
    DeviceCapabilities capabilities() const override { return {"cuda", "Small card", false, formats}; }
    DeviceMemory memory() const override { return {2 * free, free}; }
    std::size_t free = std::size_t{1} << 30;
    Formats formats = kEmulatedFormats;
};

/// With a probe that allocates at each of its samples: training itself allocates in its first step alone.
Recipe probed_recipe(int steps, int checkpoint_every) {
    Recipe recipe = small_recipe(steps, checkpoint_every);
    recipe.probes = {{"growth", 3}, {"jacobian", 4}};
    return recipe;
}

struct DeviceRun {
    SmallCard device;
    MemorySink sink;
    ThreadPool pool{1};
    std::unique_ptr<Run> run;

    explicit DeviceRun(const Recipe& recipe) {
        run = std::make_unique<Run>(std::make_unique<Experiment>(recipe, "a", "A", nullptr, device),
                                    RunStart{}, sink, 1h);
        run->begin();
    }
    ~DeviceRun() { run.reset(); }  // before its device
    void steps(int count) {
        for (int i = 0; i < count; ++i) run->advance(pool);
    }
    QString text() const { return QString::fromStdString(run->outcome().text); }
};

/// The losses from a checkpoint to the end, by an experiment alone.
std::vector<double> losses_from(const Recipe& recipe, const Checkpoint& checkpoint) {
    auto experiment = small_experiment(recipe);
    experiment->restore(checkpoint);
    ThreadPool pool(1);
    RunDelta all;
    while (!experiment->ended()) merge(all, experiment->advance(pool));
    MemorySink sink;
    sink.all = std::move(all);
    return sink.losses();
}

InputError rejection_of(const Recipe& recipe, Device& device, double promised = 0) {
    try {
        require_device(recipe, 1, device, promised);
    } catch (const InputError& error) {
        return error;
    }
    return InputError("it is accepted");
}

}  // namespace

class FailingDeviceTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aFailedRunIsCompleteAndContinuesOnTheCpu_data() {
        QTest::addColumn<int>("allocation");
        QTest::addColumn<int>("launch");
        QTest::addColumn<QString>("line");
        QTest::newRow("full") << 1 << 0 << "out of memory";
        QTest::newRow("lost") << 0 << 25 << "the device is lost";
    }
    void aFailedRunIsCompleteAndContinuesOnTheCpu() {
        QFETCH(int, allocation);
        QFETCH(int, launch);
        QFETCH(QString, line);
        const Recipe recipe = probed_recipe(12, 2);
        DeviceRun on_card(recipe);
        on_card.steps(5);
        QVERIFY(!on_card.run->ended());
        on_card.device.fail_at({static_cast<std::uint64_t>(allocation), static_cast<std::uint64_t>(launch)});
        on_card.steps(7);

        QCOMPARE(on_card.run->outcome().state, RunState::Failed);
        QVERIFY(on_card.run->error());
        QVERIFY2(on_card.text().contains(line) && !on_card.text().contains('\n'), qPrintable(on_card.text()));
        const auto& rows = on_card.sink.all.steps;
        QVERIFY(rows.size() >= 5 && rows.size() < 12);
        for (std::size_t i = 0; i < rows.size(); ++i) QCOMPARE(rows[i].step, static_cast<std::int64_t>(i));
        const auto last = on_card.sink.last;
        QVERIFY(last->step >= 4 && static_cast<std::size_t>(last->step) <= rows.size());
        on_card.run->interrupt("by hand", "stopped");  // it has ended
        QCOMPARE(on_card.sink.all.outcome->state, RunState::Failed);

        MemorySink here;
        Run resumed(small_experiment(recipe), {last, nullptr, {}, {}, false}, here, 1h);
        resumed.begin();
        while (!resumed.ended()) resumed.advance(on_card.pool);
        QCOMPARE(resumed.outcome().state, RunState::Finished);
        QCOMPARE(here.all.steps.front().step, last->step);
        QCOMPARE(here.losses(), losses_from(recipe, *last));
    }

    /// The line has what the run needs, what is free, and a batch that would fit.
    void outOfMemoryNamesWhatWouldFit() {
        Recipe recipe = probed_recipe(12, 2);
        recipe.train.batch = 8;
        DeviceRun on_card(recipe);
        on_card.steps(2);
        const MemoryNeed need = memory_need(recipe, 1, on_card.device);
        on_card.device.free = static_cast<std::size_t>(need.activations / 2);
        on_card.device.fail_at({1, 0});
        on_card.steps(10);
        QCOMPARE(on_card.run->outcome().state, RunState::Failed);
        const int batch = largest_batch(recipe, 1, on_card.device,
                                        static_cast<double>(on_card.device.free) + need.parameters);
        QVERIFY(batch > 0 && batch < 8);
        QVERIFY2(on_card.text().contains("out of memory: 1 MiB were requested; the run needs at least 0.") &&
                     on_card.text().endsWith(QString(" MiB are free on cuda; batch %1 would fit").arg(batch)),
                 qPrintable(on_card.text()));
        QVERIFY_EXCEPTION_THROWN(std::rethrow_exception(on_card.run->error()), OutOfMemory);
    }

    /// Other runs on a device with too little memory for one continue.
    void aRunNextToOneThatFailsContinues() {
        const Recipe recipe = probed_recipe(12, 2);
        DeviceRun on_card(recipe);
        MemorySink other;
        Run second(std::make_unique<Experiment>(recipe, "b", "B", nullptr, on_card.device), {}, other, 1h);
        second.begin();
        on_card.steps(4);
        for (int i = 0; i < 4; ++i) second.advance(on_card.pool);
        on_card.device.fail_at({1, 0});
        on_card.steps(8);
        QCOMPARE(on_card.run->outcome().state, RunState::Failed);
        while (!second.ended()) second.advance(on_card.pool);
        QCOMPARE(second.outcome().state, RunState::Finished);
        QCOMPARE(other.all.steps.size(), std::size_t{12});
    }

    /// A checkpoint that cannot be read from the device: the run has failed, not its recording.
    void aDeviceThatIsLostAtACheckpointFailsTheRun() {
        DeviceRun on_card(small_recipe(12, 100));
        on_card.steps(3);
        on_card.device.fail_at({0, 0, true});
        on_card.run->save();
        QCOMPARE(on_card.run->outcome().state, RunState::Failed);
        QVERIFY(on_card.run->error());
        QVERIFY(on_card.sink.checkpoints.empty());
        QCOMPARE(on_card.sink.all.outcome->state, RunState::Failed);
        QCOMPARE(on_card.sink.all.steps.size(), std::size_t{3});
    }

    void aRunThatDoesNotFitIsRejectedBeforeItStarts() {
        Recipe recipe = small_recipe(12);
        recipe.train.batch = 64;
        SmallCard card;
        const double need = require_device(recipe, 1, card);
        QCOMPARE(need, memory_need(recipe, 1, card).total());
        card.free = static_cast<std::size_t>(0.7 * need);
        const QString line = rejection_of(recipe, card).what();
        const int batch = largest_batch(recipe, 1, card, static_cast<double>(card.free));
        QVERIFY2(line.startsWith("needs 2.") &&
                     line.endsWith(QString(" MiB are free on cuda; batch %1 would fit").arg(batch)) &&
                     !line.contains('\n'),
                 qPrintable(line));
        // By the same formula, and the largest one.
        QVERIFY(batch > 1 && batch < 64);
        recipe.train.batch = batch;
        require_device(recipe, 1, card);
        recipe.train.batch = batch + 1;
        QVERIFY_EXCEPTION_THROWN(require_device(recipe, 1, card), InputError);
        // Memory that other runs of the same start will take.
        recipe.train.batch = batch;
        QVERIFY2(QString(rejection_of(recipe, card, static_cast<double>(card.free) / 2).what())
                     .contains("for the runs that start with it"),
                 "");
        card.free = 1000;
        QVERIFY(QString(rejection_of(recipe, card).what()).endsWith("; not even batch 1 would fit"));
    }

    void aFormatThatTheDeviceLacksIsRejected() {
        Recipe recipe = small_recipe(2);
        recipe.train.precision = Precision::Fp64;
        SmallCard card;
        require_device(recipe, 1, card);
        card.formats = {Arithmetic::Missing, Arithmetic::Missing, Arithmetic::Native, Arithmetic::Emulated};
        QCOMPARE(QString(rejection_of(recipe, card).what()),
                 QString("precision: fp64 is not available on cuda (Small card), allowed: fp32, bf16, fp16"));
    }
};

NORMSCOPE_TEST(FailingDeviceTest)
#include "failing_device_test.moc"
