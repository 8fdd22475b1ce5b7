// SPDX-License-Identifier: GPL-3.0-or-later
// A run that finishes, one that diverges, one that stalls: exit code, last line, info and file agree.
#include "core/findings/headline.h"
#include "core/probe/registry.h"
#include "core/run/flight_recorder.h"
#include "core/session/session.h"
#include "core/session/validate.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace normscope;

class OutcomesTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

  private Q_SLOTS:
    /// An overflow in the residual sum is named in the same words by the last line, `info` and the headline
    /// of the recording, and field by field in the last JSON object.
    void theFirstBadPlaceIsShownEverywhere() {
        const QString out = folder_.filePath("overflow.h5"), again = folder_.filePath("again.h5");
        const auto train = [](const QString& file, const QStringList& more) {
            return run_cli(QStringList{"train", "pre-ln", "--set", "precision=fp16", "--set", "stack.depth=2",
                                       "--set", "stack.residual_step=1000000", "--steps", "3", "--out",
                                       file} +
                           more);
        };
        const CliResult text = train(out, {}), json = train(again, {"--json"});
        QCOMPARE(text.code, 3);
        QCOMPARE(json.code, 3);
        const QByteArray line = json.out.trimmed().split('\n').last().toUtf8();
        const QJsonObject end = QJsonDocument::fromJson(line).object();
        const QJsonObject bad = end["first_bad"].toObject();
        QCOMPARE(bad["step"].toInt(-1), 0);
        QCOMPARE(bad["layer"].toInt(-1), 1);
        QCOMPARE(bad["operation"].toString(), QString("attn.residual_add"));
        QCOMPARE(bad["limit"].toDouble(), 65504.0);
        QVERIFY(std::abs(bad["value"].toDouble()) > 65504);
        QVERIFY(bad["row"].toInt(-1) >= 0);
        const QString place = end["text"].toString();
        QVERIFY2(text.out.contains("diverged (" + place + ")"), qPrintable(text.out));
        const CliResult info = run_cli({"info", out});
        QVERIFY2(info.out.contains(place), qPrintable(info.out));
        const Headline head = headline(open_session(out.toStdString()).runs.front(), 0);
        QCOMPARE(QString::fromStdString(head.title), QString("Diverged at step 0"));
        QCOMPARE("step 0 · " + QString::fromStdString(head.measured), place);
    }

    void states_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("state");
        QTest::addColumn<int>("code");
        QTest::newRow("the healthy default finishes") << "pre-ln"
                                                      << "finished" << 0;
        QTest::newRow("post-ln stalls") << "post-ln"
                                        << "stalled" << 0;
        QTest::newRow("no norm and high rate diverges") << "diverging"
                                                        << "diverged" << 3;
    }
    void states() {
        QFETCH(QString, preset);
        QFETCH(QString, state);
        QFETCH(int, code);
        const QString out = folder_.filePath(preset + ".h5");
        const CliResult train = run_cli({"train", preset, "--out", out});
        QVERIFY2(train.code == code, qPrintable(train.out.right(300) + train.error));
        QVERIFY2(train.error.isEmpty(), qPrintable(train.error));
        QVERIFY2(train.out.trimmed().split('\n').last().startsWith(state), qPrintable(train.out));

        const CliResult info = run_cli({"info", out});
        QCOMPARE(info.code, 0);
        QVERIFY2(info.out.contains("\"  " + state), qPrintable(info.out));
        const CliResult validate = run_cli({"validate", out});
        QVERIFY2(validate.code == 0, qPrintable(validate.error));
        const Session session = open_session(out.toStdString());
        QCOMPARE(session.runs.size(), std::size_t{1});
        const RunData& run = session.runs[0];
        QCOMPARE(QString(run_state_word(run.outcome.state)), state);
        QCOMPARE(session.checkpoints.size(), std::size_t{1});
        QCOMPARE(run.probes.size(), default_probes().size() + 1);  // and the flight recorder
        for (const std::string& id : default_probes())
            QCOMPARE(run.probes.at(id).front().step, std::int64_t{0});
        const std::vector<ProbeResult>& flight = run.probes.at(FlightRecorder::kId);
        const std::size_t flown = std::min(run.steps.rows(), FlightRecorder::kSteps);
        QVERIFY(flight.size() >= flown);
        for (std::size_t back = 0; back < flown; ++back)
            QCOMPARE(flight[flight.size() - 1 - back].step,
                     run.steps.step.back() - static_cast<std::int64_t>(back));
        if (state == "diverged") {
            QVERIFY(run.outcome.step > 0);
            // Which rule ends it first depends on roundings, and these on the instruction set: a value that
            // is not finite, or losses far above the first for 50 steps.
            const QString text = QString::fromStdString(run.outcome.text);
            QVERIFY2(text.contains("inf") || text.contains("nan") ||
                         (text.contains("median of 20 losses") && text.endsWith("for 50 steps")),
                     qPrintable(text));
            for (const auto& [id, samples] : run.probes) QCOMPARE(samples.back().step, run.outcome.step);
        } else {
            QCOMPARE(run.steps.rows(), std::size_t{200});
            const auto& loss = *run.steps.find("loss");
            const double end = std::accumulate(loss.end() - 20, loss.end(), 0.0) / 20;
            if (state == "finished")
                QVERIFY2(end < run.unigram_entropy - 0.3, qPrintable(QString::number(end)));
            else
                QVERIFY2(std::abs(end - run.unigram_entropy) <= 0.03 * run.unigram_entropy,
                         qPrintable(QString::number(end)));
            for (const auto& [id, samples] : run.probes) QCOMPARE(samples.back().step, std::int64_t{199});
        }
        // Ended runs are not resumed: the same state again, nothing changed.
        const CliResult again = run_cli({"train", preset, "--out", out, "--resume"});
        QCOMPARE(again.code, code);
        QCOMPARE(open_session(out.toStdString()).runs[0].steps.rows(), run.steps.rows());
        QVERIFY(QDir(folder_.path()).entryList({preset + ".ckpt*"}).isEmpty());
    }

    /// The bytes of a text are learned below their own entropy (a short run of a small stack).
    void learnsFromAFile() {
        const QString out = folder_.filePath("text.h5");
        const CliResult train =
            run_cli({"train", "pre-ln", "--out", out, "--steps", "150", "--set", "data.source=text", "--set",
                     QString("data.path=%1/LICENSE").arg(NORMSCOPE_SOURCE_DIR), "--set", "stack.depth=3",
                     "--set", "stack.context=24"});
        QVERIFY2(train.code == 0, qPrintable(train.error));
        const RunData run = open_session(out.toStdString()).runs.at(0);
        const auto& loss = *run.steps.find("loss");
        const double end = std::accumulate(loss.end() - 20, loss.end(), 0.0) / 20;
        QVERIFY2(end < run.unigram_entropy - 0.3,
                 qPrintable(QString("%1, unigram %2").arg(end).arg(run.unigram_entropy)));
        QVERIFY(std::isnan(run.entropy_rate));
        QVERIFY(std::abs(run.ln_vocab - std::log(256.0)) < 1e-12);
    }
};

NORMSCOPE_TEST(OutcomesTest)
#include "outcomes_test.moc"
