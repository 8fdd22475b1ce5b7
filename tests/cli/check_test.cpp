// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace {

QJsonArray rows_of(const CliResult& result) {
    return QJsonDocument::fromJson(result.out.toUtf8()).array();
}

class CheckCommandTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

  private Q_SLOTS:
    void jsonHasARowOfEachChosenClaim() {
        const CliResult result =
            run_cli(QStringList{"check", "pre-ln", "--json", "--only", "E05,E37,E21,K"} + small_stack());
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QCOMPARE(result.error, QString());
        const QJsonArray rows = rows_of(result);
        QCOMPARE(rows.size(), 3 + 22);
        QCOMPARE(rows[0].toObject()["id"].toString(), QString("E05"));
        for (const auto& value : rows) {
            const QJsonObject row = value.toObject();
            for (const char* key : {"id", "paper", "number", "claim", "verdict", "expected", "value", "bound",
                                    "residual", "samples", "knob", "detail"})
                QVERIFY2(row.contains(key), key);
            QVERIFY(!row["detail"].toString().isEmpty());
        }
        const QJsonObject one_hot = rows[0].toObject(), training = rows[1].toObject(),
                          table = rows[2].toObject();
        QCOMPARE(one_hot["verdict"].toString(), QString("holds"));
        QCOMPARE(one_hot["residual"].toDouble(-1), 0.0);
        // Without a recording a statement about training is unknown, and its numbers are null.
        QCOMPARE(training["id"].toString(), QString("E21"));
        QCOMPARE(training["verdict"].toString(), QString("unknown"));
        QCOMPARE(training["expected"].toString(), QString("toy"));
        QVERIFY(training["value"].isNull());
        QVERIFY(training["detail"].toString().startsWith("needs recorded runs"));
        QCOMPARE(table["verdict"].toString(), QString("fails"));
        QVERIFY(std::abs(table["bound"].toDouble() - std::log(50257.0)) < 1e-9);
    }

    void theTableHasALinePerClaimAndASummary() {
        const CliResult result = run_cli(QStringList{"check", "--only", "E05,E04"} + small_stack());
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[1].startsWith("E04  corrected"));
        QVERIFY(lines[2].startsWith("E05  holds"));
        QCOMPARE(lines[3], QString("pre-ln: 2 claims, 1 corrected, 1 holds"));
    }

    /// The run's own weights, and its recording for statements about training.
    void aRunIsCheckedWithItsRecording() {
        const QString run = folder_.filePath("run.h5");
        QCOMPARE(run_cli(QStringList{"train", "post-ln", "--steps", "4", "--out", run} + small_stack()).code,
                 0);
        const CliResult result = run_cli({"check", run, "--json", "--only", "E21,E30,E31,E32"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        for (const auto& row : rows_of(result)) {
            QCOMPARE(row.toObject()["verdict"].toString(), QString("toy"));
            QVERIFY(row.toObject()["detail"].toString().contains("seed 42"));
        }
        // At a step that is replayed: JSON is still alone on stdout; the table states so before it.
        const CliResult at = run_cli({"check", run + "@2", "--json", "--only", "E05"});
        QVERIFY2(at.code == 0, qPrintable(at.error));
        QCOMPARE(rows_of(at).size(), 1);
        const CliResult table = run_cli({"check", run + "@2", "--only", "E05"});
        QVERIFY2(table.out.contains("replayed from step 0 to 2"), qPrintable(table.out));
    }

    void badInputIsOneLine_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("message");
        QTest::newRow("id")
            << QStringList{"check", "pre-ln", "--only", "E38"}
            << "normscope-cli: --only: \"E38\" is not a claim, allowed: E01 … E37, N01 … N15, "
               "G01 … G18, B01 … B14, K01 … K22, or a paper's letter alone";
        QTest::newRow("preset") << QStringList{"check", "no-such"} << "normscope-cli: no-such: ";
        QTest::newRow("set of a run")
            << QStringList{"check", folder_.filePath("run.h5"), "--set", "seed=1"}
            << "normscope-cli: --set: is given, but a run has its own recipe, allowed: "
               "only with a recipe";
        QTest::newRow("value") << QStringList{"check", "pre-ln", "--set", "stack.depth=0"}
                               << "normscope-cli: stack.depth: ";
    }
    void badInputIsOneLine() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, message);
        const CliResult result = run_cli(arguments);
        QCOMPARE(result.code, 2);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.startsWith(message), qPrintable(result.error));
        QCOMPARE(result.out, QString());
    }
};

}  // namespace

NORMSCOPE_TEST(CheckCommandTest)
#include "check_test.moc"
