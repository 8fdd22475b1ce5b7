// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace {

QByteArray contents_of(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

class PreflightCommandTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

  private Q_SLOTS:
    void jsonHasFourSectionsOfRows() {
        const CliResult result = run_cli(QStringList{"preflight", "pre-ln", "--json"} + small_stack());
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QCOMPARE(result.error, QString());
        const QJsonObject report = QJsonDocument::fromJson(result.out.toUtf8()).object();
        QCOMPARE(report["scheme"].toString(), QString("pre"));
        QCOMPARE(report["depth"].toInt(), 2);
        QCOMPARE(report["width"].toInt(), 16);
        QCOMPARE(report["seed"].toInt(), 42);
        QVERIFY(report["parameters"].toInt() > 1000);
        QStringList ids;
        for (const auto& value : report["sections"].toArray()) {
            const QJsonObject section = value.toObject();
            ids << section["id"].toString();
            QVERIFY(section["rows"].toArray().size() >= 5);
            for (const auto& entry : section["rows"].toArray()) {
                const QJsonObject row = entry.toObject();
                for (const char* key :
                     {"name", "value", "theory", "bound", "unit", "word", "validity", "sentence"})
                    QVERIFY2(row.contains(key), key);
                QVERIFY(row["value"].isDouble() || row["value"].isNull());
                QCOMPARE(row["bound"].isNull() || !row["theory"].toString().isEmpty(), true);
            }
        }
        QCOMPARE(ids,
                 QStringList({"well_posedness", "forward_growth", "backward_sensitivity", "uncertainty"}));
    }

    void theTextHasEverySectionAndSettingsCount() {
        const CliResult pre = run_cli(QStringList{"preflight"} + small_stack()),
                        bare =
                            run_cli(QStringList{"preflight", "--set", "stack.scheme=none"} + small_stack());
        QVERIFY2(pre.code == 0 && bare.code == 0, qPrintable(pre.error + bare.error));
        for (const char* title :
             {"\n1 Well-posedness", "\n2 Forward growth", "\n3 Backward", "\n4 Uncertainty"})
            QVERIFY2(pre.out.contains(title), qPrintable(pre.out));
        QVERIFY(pre.out.contains("class of the state's size: linear at most, by the weights"));
        QVERIFY(bare.out.contains("class of the state's size: not bounded by the rule"));
        QVERIFY(pre.out.contains("no number decides it"));
    }

    void aReportIsWrittenByTheWindowsProgram() {
        for (const char* ending : {"pdf", "html"}) {
            const QString out = folder_.filePath(QString("report.") + ending);
            const CliResult result =
                run_cli(QStringList{"preflight", "peri-ln", "--out", out} + small_stack());
            QVERIFY2(result.code == 0, qPrintable(result.error));
            QVERIFY2(result.out.startsWith(out + ": pre-flight of Peri-LN"), qPrintable(result.out));
            const QByteArray bytes = contents_of(out);
            QVERIFY(bytes.startsWith(ending[0] == 'p' ? "%PDF-1." : "<!DOCTYPE html>"));
            // The same again, byte for byte.
            QVERIFY(QFile::remove(out));
            QCOMPARE(run_cli(QStringList{"preflight", "peri-ln", "--out", out} + small_stack()).code, 0);
            QVERIFY(contents_of(out) == bytes);
        }
    }

    void withoutThatProgramThereIsOneLine() {
        const QString alone = folder_.filePath("bin/sub/normscope-cli");
        QVERIFY(QDir().mkpath(folder_.filePath("bin/sub")));
        QVERIFY(QFile::copy(NORMSCOPE_CLI, alone));
        QProcess process;
        process.start(alone, {"preflight", "--out", folder_.filePath("none.pdf")});
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitCode(), 1);
        const QByteArray error = process.readAllStandardError();
        QCOMPARE(error.count('\n'), 1);
        QVERIFY2(error.startsWith("normscope-cli: preflight: --out needs the program normscope"), error);
        QVERIFY(!QFile::exists(folder_.filePath("none.pdf")));
    }

    void badInputIsOneLine_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("message");
        const QString svg = folder_.filePath("report.svg");
        QTest::newRow("ending") << QStringList{"preflight", "--out", svg} << 2
                                << "normscope-cli: " + svg +
                                       ": a report has another ending, allowed: .pdf, .html";
        QTest::newRow("json") << QStringList{"preflight", "--json", "--out", "a.pdf"} << 2
                              << "normscope-cli: --json: is given with --out";
        QTest::newRow("preset") << QStringList{"preflight", "no-such"} << 2 << "normscope-cli: no-such: ";
        QTest::newRow("preset, report")
            << QStringList{"preflight", "no-such", "--out", folder_.filePath("a.pdf")} << 2
            << "normscope preflight: no-such: ";
        QTest::newRow("value") << QStringList{"preflight", "--set", "stack.depth=0"} << 2
                               << "normscope-cli: stack.depth: ";
        QTest::newRow("large") << QStringList{"preflight", "--set", "stack.d_model=8192", "--set",
                                              "stack.depth=96"}
                               << 2 << "normscope-cli: stack: ";
        QTest::newRow("folder") << QStringList{"preflight", "--out", folder_.filePath("no/such/a.pdf")} +
                                       small_stack()
                                << 1 << "normscope preflight: " + folder_.filePath("no/such/a.pdf");
    }
    void badInputIsOneLine() {
        QFETCH(QStringList, arguments);
        QFETCH(int, code);
        QFETCH(QString, message);
        const CliResult result = run_cli(arguments);
        QCOMPARE(result.code, code);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.startsWith(message), qPrintable(result.error));
        QCOMPARE(result.out, QString());
    }
};

}  // namespace

NORMSCOPE_TEST(PreflightCommandTest)
#include "preflight_test.moc"
