// SPDX-License-Identifier: GPL-3.0-or-later
// `capture`: every step around an event, in the bits of a run that sampled each; and the command line of
// `bands`.
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <cstring>

using namespace normscope;

namespace {

bool same_bits(const ProbeResult& a, const ProbeResult& b) {
    if (a.arrays.size() != b.arrays.size()) return false;
    for (std::size_t i = 0; i < a.arrays.size(); ++i)
        if (a.arrays[i].data.size() != b.arrays[i].data.size() ||
            std::memcmp(a.arrays[i].data.data(), b.arrays[i].data.data(),
                        a.arrays[i].data.size() * sizeof(double)) != 0)
            return false;
    return true;
}

}  // namespace

class CaptureTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const QString& name) const { return folder_.filePath(name); }
    RunData run(const QString& name) const { return open_session(path(name).toStdString()).runs.at(0); }
    CliResult train(const QString& out, const QString& every) const {
        return run_cli(QStringList{"train", "pre-ln", "--out", path(out), "--steps", "30", "--watch",
                                   "loss > 0", "--set",
                                   "probes=[{\"id\":\"growth\",\"every\":" + every +
                                       "},{\"id\":\"gradients\",\"every\":" + every + "}]"} +
                       small_stack());
    }

  private Q_SLOTS:
    void initTestCase() {
        for (const auto& [name, every] : {std::pair{"seldom.h5", "1000"}, std::pair{"each.h5", "1"}}) {
            const CliResult result = train(name, every);
            QVERIFY2(result.code == 0, qPrintable(result.error));
        }
    }

    void everyStepAroundAStep() {
        const CliResult result = run_cli(
            {"capture", path("seldom.h5"), "--step", "12", "--around", "3", "--out", path("around.h5")});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY2(result.out.contains("14 samples at steps 9 to 15"), qPrintable(result.out));
        const RunData there = run("around.h5"), each = run("each.h5"), seldom = run("seldom.h5");
        for (const char* const probe : {"growth", "gradients"})
            for (std::int64_t step = 0; step < 30; ++step) {
                const ProbeResult *sample = there.sample_of(probe, step),
                                  *before = seldom.sample_of(probe, step);
                QCOMPARE(sample != nullptr, before || (step >= 9 && step <= 15));
                if (sample) QVERIFY(same_bits(*sample, *each.sample_of(probe, step)));
            }
        QCOMPARE(*there.steps.find("loss"), *seldom.steps.find("loss"));
        // Of a session too; what it has already is not measured twice over.
        const CliResult again = run_cli({"capture", path("around.h5"), "--step", "14", "--around", "2",
                                         "--probes", "growth", "--out", path("more.h5")});
        QVERIFY2(again.out.contains("1 samples at steps 12 to 16"), qPrintable(again.out + again.error));
    }

    void theFirstEventOfAKind() {
        const CliResult result =
            run_cli({"capture", path("seldom.h5"), "--event", "watch", "--out", path("watched.h5")});
        QVERIFY2(result.code == 0 && result.out.contains("at steps 0 to 20"), qPrintable(result.out));
        const CliResult end = run_cli(
            {"capture", path("seldom.h5"), "--event", "outcome", "--around", "1", "--out", path("end.h5")});
        QVERIFY2(end.code == 0 && end.out.contains("to 29"), qPrintable(end.out + end.error));
    }

    /// The command line of bands; what it finds is tested in findings_healthy_band.
    void aRunAgainstTheBandOfOthers() {
        QVERIFY(QDir(folder_.path()).mkpath("healthy/more"));
        for (int seed = 1; seed <= 8; ++seed) {
            const QString out =
                path("healthy/" + QString(seed > 6 ? "more/" : "") + QString::number(seed) + ".h5");
            const CliResult result = run_cli(QStringList{"train", "pre-ln", "--out", out, "--steps", "12",
                                                         "--set", "seed=" + QString::number(seed)} +
                                             small_stack());
            QVERIFY2(result.code == 0, qPrintable(result.error));
        }
        const CliResult fast = run_cli(QStringList{"train", "pre-ln", "--out", path("fast.h5"), "--steps",
                                                   "12", "--set", "optimizer.lr=3"} +
                                       small_stack());
        QVERIFY(fast.code == 0 || fast.code == 3);
        const CliResult found =
            run_cli({"bands", path("fast.h5"), path("healthy/1.h5"), "--healthy", path("healthy"), "--json"});
        QVERIFY2(found.code == 0, qPrintable(found.error));
        const QJsonObject json = QJsonDocument::fromJson(found.out.toUtf8()).object();
        QCOMPARE(json["healthy_runs"].toInt(), 8);
        QCOMPARE(json["false_alarm_rate"].toDouble(), 1.0 / 9);
        QVERIFY(json["runs"][0]["outside"]["step"].toInt() <= 3);
        QVERIFY(json["runs"][1]["outside"].isNull());  // one of them
        const CliResult text =
            run_cli({"bands", path("fast.h5"), "--healthy", path("healthy"), "--rate", "0.2"});
        QVERIFY2(text.out.contains("fast.h5: outside since step") && text.out.contains("1 of 1 runs outside"),
                 qPrintable(text.out));
        const CliResult few = run_cli({"bands", path("fast.h5"), "--healthy", path("healthy/more")});
        QCOMPARE(few.code, 2);
        QVERIFY2(few.error.contains("2 are too few for a band"), qPrintable(few.error));
        const CliResult none =
            run_cli({"bands", path("fast.h5"), "--healthy", folder_.path() + "/healthy/no"});
        QCOMPARE(none.code, 2);
    }

    void badInput_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("line");
        const auto row = [](const char* line, const QStringList& arguments) {
            QTest::newRow(line) << arguments << line;
        };
        row("has no event \"spike\", allowed: outcome, watch, or --step", {"--event", "spike"});
        row("30 is after the run's end, allowed: up to 29", {"--step", "30"});
        row("\"depth\" is not known", {"--step", "3", "--probes", "depth"});
        row("holds no run \"z\"", {"--step", "3", "--run", "z"});
        row("--step or --event", {});
        row("--step excludes --event", {"--step", "3", "--event", "spike"});
    }
    void badInput() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, line);
        const CliResult result =
            run_cli(QStringList{"capture", path("seldom.h5"), "--out", path("bad.h5")} + arguments);
        QCOMPARE(result.code, 2);
        QVERIFY2(result.error.contains(line), qPrintable(result.error));
        QVERIFY(!QFile::exists(path("bad.h5")));
    }
};

NORMSCOPE_TEST(CaptureTest)
#include "capture_test.moc"
