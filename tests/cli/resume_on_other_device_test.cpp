// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is recorded on the CPU, killed, resumed on the emulated CUDA device, killed, and resumed on the
// CPU: its losses are those of an uninterrupted run on the CPU, each step once.
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QDateTime>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

class ResumeOnOtherDeviceTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    static constexpr int kSteps = 1500;

    static QStringList train(const QString& out, const QString& backend) {
        // Without biases: the gradient of a key's is round-off alone, which AdamW scales up.
        return QStringList{"train",     "peri-ln",
                           "--out",     out,
                           "--steps",   QString::number(kSteps),
                           "--set",     "checkpoint.every=5",
                           "--set",     "stack.bias=false",
                           "--set",     "validate.every=100",
                           "--backend", backend,
                           "--resume"} +
               small_stack();
    }
    static int steps_of(const QString& file) {
        if (!QFile::exists(file)) return 0;
        const CliResult info = run_cli({"info", file});
        const auto found = QRegularExpression("  steps (\\d+)").match(info.out);
        return info.code == 0 && found.hasMatch() ? found.captured(1).toInt() : 0;
    }
    /// The newest moment at which a checkpoint was written.
    QDateTime last_checkpoint() const {
        QDateTime last;
        for (const QFileInfo& file : QDir(folder_.path()).entryInfoList({"run.ckpt*.h5"}))
            if (!last.isValid() || file.lastModified() > last) last = file.lastModified();
        return last;
    }
    /// Until more than `begin` steps are on disk and a checkpoint of this process, too; returns how many
    /// after kill -9, 0 where it ended before. Without a checkpoint of its own the next process would begin
    /// where this one did, and replace all that it recorded.
    int killed_after(const QString& out, const QString& backend, int begin) {
        const QDateTime before = last_checkpoint();
        const auto process = start_cli(train(out, backend));
        while (steps_of(out) <= begin || last_checkpoint() == before)
            if (process->waitForFinished(20)) return 0;
        process->kill();
        process->waitForFinished();
        return steps_of(out);
    }

  private Q_SLOTS:
    void losses() {
        const QString whole = folder_.filePath("whole.h5"), out = folder_.filePath("run.h5");
        const CliResult uninterrupted = run_cli(train(whole, "cpu"));
        QVERIFY2(uninterrupted.code == 0, qPrintable(uninterrupted.error));
        const int on_cpu = killed_after(out, "cpu", 0);
        QVERIFY2(on_cpu > 0 && on_cpu < kSteps, qPrintable(QString("%1 steps on the CPU").arg(on_cpu)));
        const int emulated = killed_after(out, "cuda-emulated", on_cpu + 10);
        QVERIFY2(emulated > on_cpu + 10 && emulated < kSteps, qPrintable(QString("%1 steps").arg(emulated)));
        const CliResult last = run_cli(train(out, "cpu"));
        QVERIFY2(last.code == 0, qPrintable(last.error));
        const CliResult valid = run_cli({"validate", out});
        QVERIFY2(valid.code == 0, qPrintable(valid.out + valid.error));

        const RunData a = open_session(whole.toStdString()).runs.at(0),
                      b = open_session(out.toStdString()).runs.at(0);
        QCOMPARE(b.outcome.state, RunState::Finished);
        QCOMPARE(a.steps.rows(), std::size_t(kSteps));
        QCOMPARE(b.steps.step, a.steps.step);
        QCOMPARE(std::count_if(b.events.begin(), b.events.end(),
                               [](const RunEvent& e) { return e.kind == "resume"; }),
                 2);
        for (const char* name : {"loss", "grad_norm", "val_loss"}) {
            const auto &expected = *a.steps.find(name), &found = *b.steps.find(name);
            double most = 0;
            std::size_t other = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                QCOMPARE(std::isnan(found[i]), std::isnan(expected[i]));
                if (std::isnan(found[i])) continue;
                other += found[i] != expected[i];
                most = std::max(most, std::abs(found[i] - expected[i]) / std::abs(expected[i]));
            }
            qInfo("%s: %.2g apart; %d, then %d of %d steps; %d values with other bits", name, most, on_cpu,
                  emulated - on_cpu, kSteps, static_cast<int>(other));
            QVERIFY2(most <= 1e-5, qPrintable(QString("%1: %2").arg(name).arg(most)));
            QVERIFY(other > 0);  // or the other device was not used
        }
    }
};

NORMSCOPE_TEST(ResumeOnOtherDeviceTest)
#include "resume_on_other_device_test.moc"
