// SPDX-License-Identifier: GPL-3.0-or-later
// Watchpoints and presets of probes of `train`.
#include "core/run/probes_preset.h"
#include "core/run/watchpoints.h"
#include "core/session/checkpoint.h"
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

class WatchTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QStringList train(const QString& out, const QStringList& more = {}) const {
        return QStringList{"train", "pre-ln", "--out", folder_.filePath(out), "--steps", "30"} +
               small_stack() + more;
    }
    RunData run(const QString& out) const {
        return open_session(folder_.filePath(out).toStdString()).runs.at(0);
    }
    std::vector<StoredTensor> weights(const QString& out) const {
        const std::string path = folder_.filePath(out).toStdString();
        const Session session = open_session(path);
        return load_checkpoint(path, session.runs.at(0).id, session.checkpoints.at(0).step).params;
    }
    static std::vector<RunEvent> watched(const RunData& run) {
        std::vector<RunEvent> events;
        for (const RunEvent& event : run.events)
            if (event.kind == kWatchEvent) events.push_back(event);
        return events;
    }

  private Q_SLOTS:
    void initTestCase() {
        const CliResult plain = run_cli(train("plain.h5"));
        QVERIFY2(plain.code == 0, qPrintable(plain.error));
        QVERIFY(watched(run("plain.h5")).empty());
        QVERIFY(run("plain.h5").recipe.text().find("watch") == std::string::npos);
    }

    void aWatchpointIsReportedAndRecordedAndTheRunContinues() {
        const CliResult result =
            run_cli(train("watched.h5", {"--watch", "loss > 0", "--watch", "grad_norm>1e9"}));
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY2(result.out.contains("step 0: watch, loss "), qPrintable(result.out));
        const RunData there = run("watched.h5");
        QCOMPARE(watched(there).size(), std::size_t{1});
        QCOMPARE(there.steps.rows(), std::size_t{30});
        QCOMPARE(watch_text(there.recipe.get()->watch), std::string("loss > 0; grad_norm > 1e+09"));
        QCOMPARE(*there.steps.find("loss"), *run("plain.h5").steps.find("loss"));
        QCOMPARE(weights("watched.h5"), weights("plain.h5"));
    }

    void stopAtWatchStopsWithACheckpointAndResumesToTheSameBits() {
        // Some step in the middle: where the loss is below that of all steps before.
        const std::vector<double> loss = *run("plain.h5").steps.find("loss");
        std::int64_t step = 5;
        while (*std::min_element(loss.begin(), loss.begin() + step) <= loss[static_cast<std::size_t>(step)])
            ++step;
        QVERIFY(step < 29);
        const double before = *std::min_element(loss.begin(), loss.begin() + step);
        const double between = (before + loss[static_cast<std::size_t>(step)]) / 2;
        const QStringList options = train(
            "stopped.h5", {"--watch", "loss < " + QString::number(between, 'g', 17), "--stop-at-watch"});
        const CliResult stopped = run_cli(options);
        QCOMPARE(stopped.code, 4);
        QVERIFY2(stopped.error.contains("interrupted at step " + QString::number(step + 1) +
                                        ", --resume continues"),
                 qPrintable(stopped.error));
        QCOMPARE(run("stopped.h5").steps.step.back(), step);
        QCOMPARE(watched(run("stopped.h5")).at(0).step, step);
        QVERIFY(run("stopped.h5").outcome.text.rfind("watch: loss ", 0) == 0);
        // It may stop again where the loss rises above the value in between and falls back; to the end it
        // takes at most as many stops as there are steps.
        CliResult resumed = run_cli(options + QStringList{"--resume"});
        for (int i = 0; i < 30 && resumed.code == 4; ++i) {
            const std::int64_t last = run("stopped.h5").steps.step.back();
            QVERIFY(loss[static_cast<std::size_t>(last - 1)] >= between);  // it was on the other side
            resumed = run_cli(options + QStringList{"--resume"});
        }
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        QCOMPARE(*run("stopped.h5").steps.find("loss"), loss);
        QCOMPARE(weights("stopped.h5"), weights("plain.h5"));
    }

    void aRunMayBeResumedUnderOtherWatchpoints() {
        const CliResult stopped = run_cli(train("other.h5", {"--watch", "loss > 0", "--stop-at-watch"}));
        QCOMPARE(stopped.code, 4);
        const CliResult resumed = run_cli(train("other.h5", {"--resume"}));
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        QCOMPARE(weights("other.h5"), weights("plain.h5"));
    }

    void progressAsJsonHasTheEvent() {
        const CliResult result = run_cli(train("json.h5", {"--json", "--watch", "loss > 0"}));
        int events = 0;
        for (const QString& line : result.out.split('\n', Qt::SkipEmptyParts)) {
            const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
            if (object["event"] != "watch") continue;
            ++events;
            QCOMPARE(object["step"].toInt(-1), 0);
            QVERIFY(object["text"].toString().startsWith("loss "));
        }
        QCOMPARE(events, 1);
    }

    void whatIsWrongIsOneLine_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("line");
        QTest::newRow("quantity")
            << QStringList{"--watch", "growth > 2"}
            << "--watch: \"growth\" is not known, allowed: grad_norm, grad_ratio, loss, "
               "hidden_rms, non_finite, entropy";
        QTest::newRow("value")
            << QStringList{"--watch", "loss > many"}
            << "--watch: \"many\" is not a number, allowed: QUANTITY > VALUE or QUANTITY < "
               "VALUE";
        QTest::newRow("list") << QStringList{"--set", R"(watch=[{"quantity":"loss","is":"="}])"}
                              << "watch[0].is: \"=\" is not known, allowed: >, <";
    }
    void whatIsWrongIsOneLine() {
        QFETCH(QStringList, more);
        QFETCH(QString, line);
        const CliResult result = run_cli(train("wrong.h5", more));
        QCOMPARE(result.code, 2);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.contains(line), qPrintable(result.error));
        QVERIFY(!QFile::exists(folder_.filePath("wrong.h5")));
    }

    void aPresetReplacesTheProbesOfTheRecipe() {
        const CliResult result = run_cli(train("economy.h5", {"--probes", "economy"}));
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY2(result.out.contains("probes economy: "), qPrintable(result.out));
        const RunData there = run("economy.h5");
        const Recipe recipe = *there.recipe.get();
        QCOMPARE(recipe.probes, probes_of(ProbesPreset::Economy, recipe));
        for (const ProbePlan& plan : recipe.probes) {
            std::vector<std::int64_t> steps;
            for (const ProbeResult& sample : there.probes.at(plan.id)) steps.push_back(sample.step);
            QCOMPARE(steps, (std::vector<std::int64_t>{0, 2, 8, 29}));
        }
        QCOMPARE(weights("economy.h5"), weights("plain.h5"));
        const CliResult wrong = run_cli(train("wrong.h5", {"--probes", "cheap"}));
        QCOMPARE(wrong.code, 2);
    }
};

NORMSCOPE_TEST(WatchTest)
#include "watch_test.moc"
