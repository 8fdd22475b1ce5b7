// SPDX-License-Identifier: GPL-3.0-or-later
// `train` on a card that is lost or full in the middle of a run, and --resume on the CPU. The card is the
// emulated device in a plug-in (tests/backend/plugin/emulated_plugin.cpp).
#include "core/run/experiment.h"
#include "core/session/checkpoint.h"
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

class FailingDeviceTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString out(const char* name) const { return folder_.filePath(QLatin1String(name)); }

    static CliResult train(const QString& to, const QStringList& more, const QByteArray& fault,
                           const QByteArray& free = "6000000000") {
        qputenv("NORMSCOPE_CUDA_PLUGIN", EMULATED_PLUGIN);
        qputenv("CARD_FAULT", fault);
        qputenv("CARD_FREE", free);
        const CliResult result = run_cli(
            QStringList{"train", "pre-ln", "--out", to, "--steps", "12", "--set", "checkpoint.every=2"} +
            small_stack() + more);
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");
        return result;
    }

  private Q_SLOTS:
    void aLostCardLosesNothing() {
        const QString file = out("lost.h5");
        const CliResult lost = train(file, {"--backend", "cuda"}, "launch 26000");
        QCOMPARE(lost.code, 1);
        const QStringList lines = lost.error_lines();
        QVERIFY2(lines.size() == 1 && lines[0].startsWith("normscope-cli: " + file + ": failed at step ") &&
                     lines[0].endsWith(": emulated CUDA device: the device is lost; --resume --backend cpu "
                                       "continues"),
                 qPrintable(lost.error));
        Session session = open_session(file.toStdString());
        const RunData failed = session.runs.at(0);
        QCOMPARE(failed.outcome.state, RunState::Failed);
        QCOMPARE(failed.backend, std::string("cuda"));
        const auto rows = failed.steps.rows();
        QVERIFY2(rows >= 4 && rows < 12, qPrintable(QString::number(rows)));
        const auto checkpoint = CheckpointPair(file.toStdString()).newest();
        QVERIFY(checkpoint && checkpoint->step >= 2 && static_cast<std::size_t>(checkpoint->step) <= rows);

        const CliResult resumed = train(file, {"--backend", "cpu", "--resume"}, "");
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        session = open_session(file.toStdString());
        const RunData& whole = session.runs.at(0);
        QCOMPARE(whole.outcome.state, RunState::Finished);
        QCOMPARE(whole.backend, std::string("cpu"));
        QCOMPARE(whole.device, cpu_name());
        QCOMPARE(whole.steps.rows(), std::size_t{12});
        const auto resume = std::find_if(whole.events.begin(), whole.events.end(),
                                         [](const RunEvent& event) { return event.kind == "resume"; });
        QVERIFY(resume != whole.events.end());
        QCOMPARE(resume->step, checkpoint->step);
        QCOMPARE(QString::fromStdString(resume->text),
                 QString("from the checkpoint of this step, on cpu instead of cuda"));

        // Rows before the checkpoint are the card's, those after it the bits that the CPU gives from there.
        Experiment alone(checkpoint->recipe.value("checkpoint"), "a", "A");
        alone.restore(*checkpoint);
        ThreadPool pool(1);
        RunData expected = alone.header();
        while (!alone.ended()) append(expected, alone.advance(pool));
        const auto &before = *failed.steps.find("loss"), &after = *expected.steps.find("loss");
        std::vector<double> losses(before.begin(), before.begin() + checkpoint->step);
        losses.insert(losses.end(), after.begin(), after.end());
        QCOMPARE(*whole.steps.find("loss"), losses);
        QCOMPARE(load_checkpoint(file.toStdString(), whole.id, 12).params, alone.checkpoint().params);
    }

    void aCardThatIsFullNamesWhatWouldFit() {
        const CliResult full = train(out("full.h5"), {"--backend", "cuda"}, "allocation 60");
        QCOMPARE(full.code, 1);
        QVERIFY2(full.error_lines().size() == 1 && full.error.contains("MiB were requested; the run needs") &&
                     full.error.contains(" are free on cuda") && full.error.contains("--backend cpu"),
                 qPrintable(full.error));
        const CliResult resumed = train(out("full.h5"), {"--backend", "cpu", "--resume"}, "");
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        QCOMPARE(open_session(out("full.h5").toStdString()).runs.at(0).steps.rows(), std::size_t{12});
    }

    void whatDoesNotFitIsRejectedBeforeTheStart() {
        const CliResult small =
            train(out("small.h5"), {"--backend", "cuda", "--set", "batch=16"}, "", "500000");
        QCOMPARE(small.code, 2);
        const QRegularExpression line(
            "^normscope-cli: needs 0.7 MiB, 0.5 MiB are free on cuda; batch (\\d+) would fit\n$");
        const auto match = line.match(small.error);
        QVERIFY2(match.hasMatch(), qPrintable(small.error));
        QVERIFY(!QFile::exists(out("small.h5")));
        const CliResult fits = train(
            out("small.h5"), {"--backend", "cuda", "--set", "batch=" + match.captured(1)}, "", "500000");
        QVERIFY2(fits.code == 0, qPrintable(fits.error));
    }
};

NORMSCOPE_TEST(FailingDeviceTest)
#include "failing_device_test.moc"
