// SPDX-License-Identifier: GPL-3.0-or-later
// The device that runs train on: the choice, and what a device that fails ends and leaves.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/session/recording/recovery.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QRegularExpression>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

const QString kEmulated = QStringLiteral("cuda-emulated");

/// A laboratory whose devices are found; the emulated one works again afterwards.
struct DeviceBench : Bench {
    explicit DeviceBench(int steps) : Bench(steps) {
        emulated_cuda_device().fail_at({});
        if (!QTest::qWaitFor([this] { return !lab->devices().known().empty(); }, 20000))
            throw std::runtime_error("no devices are found");
    }
    ~DeviceBench() {
        lab.reset();
        emulated_cuda_device().fail_at({});
    }
    const LabRun* find(const std::string& id) const {
        for (const LabRun& run : lab->comparison().runs)
            if (run.id == id) return &run;
        return nullptr;
    }
};

/// The losses of a run from a checkpoint on, on the CPU, by an experiment alone.
std::vector<double> lossesFrom(const Checkpoint& checkpoint, std::size_t count) {
    Experiment alone(checkpoint.recipe.value("checkpoint"), "a", "A");
    alone.restore(checkpoint);
    ThreadPool pool(1);
    RunData data = alone.header();
    while (data.steps.rows() < count) append(data, alone.advance(pool));
    return *data.steps.find("loss");
}

}  // namespace

class LabDevicesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theListHasWhatIsMissing() {
        DeviceBench b(6);
        QStringList words;
        for (const KnownDevice& device : b.lab->devices().known()) {
            words << QString::fromStdString(device.backend);
            QCOMPARE(device.missing.empty(), device.memory.total > 0);
            QVERIFY(device.missing.find('\n') == std::string::npos);
        }
        QCOMPARE(words, QStringList({"cuda", "cpu", "cuda-emulated"}));
        QCOMPARE(b.lab->devices().known()[0].missing, std::string("NORMSCOPE_CUDA_PLUGIN is empty"));
        QCOMPARE(b.lab->devices().chosen(), std::string("cpu"));
        b.lab->devices().choose("cuda");  // it is not there
        QCOMPARE(b.lab->devices().chosen(), std::string("cpu"));
    }

    void aChoiceThatIsGoneFallsBackToTheCpu_data() {
        QTest::addColumn<QString>("wanted");
        QTest::addColumn<QString>("line");
        const char* gone = " is not available: NORMSCOPE_CUDA_PLUGIN is empty; training is on cpu";
        QTest::newRow("card") << "cuda"
                              << "cuda" + QString(gone);
        QTest::newRow("second card") << "cuda:1"
                                     << "cuda:1" + QString(gone);
        QTest::newRow("unknown") << "tpu"
                                 << "tpu is not available; training is on cpu";
        QTest::newRow("best") << "auto"
                              << "";
    }
    void aChoiceThatIsGoneFallsBackToTheCpu() {
        QFETCH(QString, wanted);
        QFETCH(QString, line);
        QTemporaryDir folder;
        Lab lab({1, folder.path(), {}, wanted.toStdString()});
        QStringList problems;
        connect(&lab, &Lab::problem, &lab, [&](const QString& text) { problems << text; });
        QTRY_VERIFY(!lab.devices().known().empty());
        QCOMPARE(lab.devices().chosen(), std::string("cpu"));
        QCOMPARE(problems, line.isEmpty() ? QStringList() : QStringList(line));
    }

    void theChosenDeviceTrainsProbesAndIsRecorded() {
        DeviceBench b(6);
        b.lab->devices().choose(kEmulated);
        QTRY_VERIFY(b.measured());
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(1).steps.rows() == 6, 60000);
        QCOMPARE(b.run(0).backend, std::string("cuda-emulated"));
        QCOMPARE(b.run(0).device, std::string("CUDA on the emulated grid"));
        QVERIFY(b.run(0).probes.at("growth").size() > 2);
        Experiment alone(b.run(0).recipe.value("run"), "a", "A", nullptr, emulated_cuda_device());
        ThreadPool pool(1);
        RunData expected = alone.header();
        while (!alone.ended()) append(expected, alone.advance(pool));
        QCOMPARE(*b.run(0).steps.find("loss"), *expected.steps.find("loss"));

        // A step that was not sampled is replayed there.
        b.lab->view().setVisibleProbes({"spectra"});
        b.lab->view().setStep(3);
        QCOMPARE(b.lab->measurement().obstacle(), QString());
        b.lab->measurement().measureHere();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->measurement().running(), 60000);
        QVERIFY(b.run(0).sample_of("spectra", 3));
        QVERIFY(b.figure("growth").empty_text.isEmpty());

        const QString path = b.folder.filePath("session.h5");
        QSignalSpy saved(&b.lab->session(), &LabSession::saved);
        b.lab->session().save(path, "{}");
        QTRY_COMPARE(saved.count(), 1);
        QCOMPARE(open_session(path.toStdString()).runs.at(1).backend, std::string("cuda-emulated"));
        QCOMPARE(b.problems, QStringList());
    }

    /// A run on a device that is lost fails alone, and continues on the CPU from its checkpoint, bit for bit.
    void aLostDeviceEndsItsRunAloneAndItIsResumed() {
        DeviceBench b(100000);
        b.lab->runs().remove(1);
        b.lab->knobs().commitKey("checkpoint.every", 10);
        b.lab->knobs().commitKey("stack.gpas.enabled",
                                 true);  // gates are read from the device for every frame
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().pause();
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        b.lab->training().play();
        b.lab->devices().choose(kEmulated);
        emulated_cuda_device().fail_at({0, 16000});
        QSignalSpy failures(b.lab.get(), &Lab::runsFailed);
        b.lab->forks().forkSelected();
        QTRY_COMPARE(b.lab->comparison().runs.size(), 2u);
        const std::string other = b.lab->comparison().runs[0].id, lost = b.lab->comparison().runs[1].id;
        QTRY_COMPARE_WITH_TIMEOUT(failures.count(), 1, 60000);

        QCOMPARE(b.run(1).outcome.state, RunState::Failed);
        QCOMPARE(b.run(1).backend, std::string("cuda-emulated"));
        const auto failed = b.lab->training().failedRuns();
        QCOMPARE(failed.size(), 1u);
        QVERIFY2(QRegularExpression("^.* failed at step \\d+: emulated CUDA device: the device is lost$")
                     .match(failed[0].second)
                     .hasMatch(),
                 qPrintable(failed[0].second));
        // The other run and the exploration continue.
        QVERIFY(b.find(other)->isTraining() && b.lab->training().playing());
        auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 10);
        QTRY_COMPARE(b.lab->training().deviceUse().backend, std::string("cpu"));
        QCOMPARE(b.problems, QStringList());
        // The recording is complete up to the failure.
        const std::string path = b.find(lost)->recording;
        QVERIFY(!path.empty() && path != b.find(other)->recording);
        const auto recorded = b.run(1).steps.rows();
        QTRY_COMPARE(recover(path).outcome.state, RunState::Failed);
        QCOMPARE(recover(path).steps.rows(), recorded);

        const auto known = b.find(lost)->checkpoints;
        const auto at = static_cast<std::size_t>(known.back().step);
        const auto checkpoint = std::get<CheckpointPtr>(known.back().source.from);
        b.lab->training().resumeRuns({lost}, "cpu");
        QTRY_VERIFY_WITH_TIMEOUT(b.find(lost)->isTraining() && b.run(1).steps.rows() > at + 20, 20000);
        QCOMPARE(b.run(1).backend, std::string("cpu"));
        QCOMPARE(b.lab->training().failedRuns().size(), 0u);
        QVERIFY(b.find(other)->isTraining());
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        const std::vector<double> expected = lossesFrom(*checkpoint, 20);
        const std::vector<double>& loss = *b.run(1).steps.find("loss");
        for (std::size_t i = 0; i < 20; ++i) QCOMPARE(loss[at + i], expected[i]);
        for (std::size_t i = 0; i < loss.size(); ++i)
            QCOMPARE(b.run(1).steps.step[i], static_cast<std::int64_t>(i));
        QStringList events;
        for (const RunEvent& event : b.run(1).events)
            if (event.kind == "resume") events << QString::fromStdString(event.text);
        QCOMPARE(events.last(), QString("from the checkpoint, on cpu instead of cuda-emulated"));
        // In the same file.
        QCOMPARE(b.find(lost)->recording, path);
        QTRY_COMPARE(recover(path).outcome.state, RunState::Interrupted);
        QCOMPARE(recover(path).backend, std::string("cpu"));
        QCOMPARE(recover(path).steps.rows(), loss.size());
    }

    /// Both runs of a start on a lost device: the laboratory explores on, and a run without a checkpoint
    /// starts again at step 0.
    void everyRunOfALostDeviceIsReported() {
        DeviceBench b(12);  // too few for a verdict
        b.lab->devices().choose(kEmulated);
        emulated_cuda_device().fail_at({0, 16000});
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab->training().failedRuns().size() == 2, 60000);
        for (const int i : {0, 1})
            QVERIFY2(b.run(i).steps.rows() > 0 && b.run(i).steps.rows() < 12,
                     qPrintable(QString("run %1: %2 steps").arg(i).arg(b.run(i).steps.rows())));
        QTRY_COMPARE(b.interrupted().size(), 2);  // offered at the next start
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        QTRY_VERIFY(b.lab->view().exact() && b.run(2).probes.count("growth"));
        b.lab->runs().remove(2);
        b.lab->training().resumeRuns({b.lab->comparison().runs[0].id, b.lab->comparison().runs[1].id}, "cpu");
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(1).outcome.state == RunState::Finished, 20000);
        for (const int i : {0, 1}) {
            QCOMPARE(b.run(i).backend, std::string("cpu"));
            QCOMPARE(b.run(i).steps.rows(), std::size_t{12});
            QCOMPARE(b.run(i).steps.step.front(), 0);
        }
        QTRY_COMPARE(b.interrupted().size(), 0);
        QCOMPARE(b.problems, QStringList());
    }

    void aDeviceThatIsFullAtTheStartRejectsThatRunAlone() {
        DeviceBench b(6);
        b.lab->devices().choose(kEmulated);
        emulated_cuda_device().fail_at({3, 0});
        b.lab->training().play();
        QTRY_COMPARE(b.problems.size(), 1);
        QVERIFY2(b.problems[0].contains("out of memory") && !b.problems[0].contains('\n'),
                 qPrintable(b.problems[0]));
        // The other run is trained all the same, and this one at the next start.
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(1).outcome.state == RunState::Finished, 60000);
        QCOMPARE(b.run(0).outcome.state, RunState::Prepared);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(0).outcome.state == RunState::Finished, 60000);
    }
};

NORMSCOPE_TEST(LabDevicesTest)
#include "lab_devices_test.moc"
