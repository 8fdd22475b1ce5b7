// SPDX-License-Identifier: GPL-3.0-or-later
// `gallery`: the list, one entry trained and measured, resumed, read again.
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace {

const char* const kOwnEntry =
    R"({"format": "normscope-gallery", "version": 1, "title": "My depth", "place": "my notes",
            "statement": "A deeper stack is larger at the end.",
            "sweep": {"preset": "pre-ln", "set": ["steps=0", "stack.d_model=16", "stack.heads=2",
                "stack.context=16"],
                "grid": ["stack.depth=2,8"], "seeds": "42:44"},
            "measures": [{"name": "RMS, 8 layers ÷ 2", "effect": "ratio",
                "quantity": {"probe": "growth", "array": "rms", "over": "last"},
                "of": {"stack.depth": "8"}, "against": {"stack.depth": "2"}, "is": ">"}]})";

}  // namespace

class GalleryCommandTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    static QJsonObject entry_of(const CliResult& result) {
        return QJsonDocument::fromJson(result.out.toUtf8()).array().at(0).toObject();
    }

  private Q_SLOTS:
    void list() {
        const CliResult result = run_cli({"gallery"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
        QVERIFY(lines.size() >= 20);
        QVERIFY(lines[0].startsWith("e-fig1-loss: Final loss of Pre-LN and Post-LN (Emadi, Figure 1"));
    }

    void description() {
        const CliResult result = run_cli({"gallery", "n-table1"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY(result.out.contains("10 runs: stack.scheme=pre,post seeds 42:46"));
        QVERIFY(result.out.contains("paper > 1.5, 2"));
    }

    /// The null-space note's table, at its ε of 0: a sub-layer of Post-LN has two exact null directions, none
    /// that ε keeps; Pre-LN has none. All seeds agree.
    void oneEntry() {
        const QStringList arguments{"gallery", "n-table1", "--out", folder_.filePath("g"), "--json"};
        const CliResult unmeasured = run_cli(arguments + QStringList{"--no-training"});
        QVERIFY2(unmeasured.code == 0, qPrintable(unmeasured.error));
        QCOMPARE(entry_of(unmeasured)["runs_ended"].toInt(-1), 0);
        QCOMPARE(entry_of(unmeasured)["measures"].toArray()[0].toObject()["verdict"].toString(),
                 QString("not measured"));

        const CliResult result = run_cli(arguments);
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QJsonObject entry = entry_of(result);
        QCOMPARE(entry["runs_ended"].toInt(), 10);
        const QJsonArray measures = entry["measures"].toArray();
        QCOMPARE(measures.size(), 3);
        const double expected[] = {2, 0, 0};
        for (int i = 0; i < 3; ++i) {
            const QJsonObject measure = measures[i].toObject();
            QCOMPARE(measure["effect"].toDouble(-1), expected[i]);
            QCOMPARE(measure["low"].toDouble(-1), expected[i]);
            QCOMPARE(measure["verdict"].toString(), QString("as the paper"));
            QCOMPARE(measure["seeds"].toInt(), 5);
        }
        // Again without a step: the same findings.
        const CliResult again = run_cli(arguments + QStringList{"--no-training"});
        QCOMPARE(again.out, result.out);
        const CliResult table =
            run_cli({"gallery", "n-table1", "--out", folder_.filePath("g"), "--no-training"});
        QVERIFY(
            table.out.contains("as the paper: exact null directions of a sub-layer, Pre-LN (most of all): "
                               "0 [0, 0], 5 seeds; paper < 0.5, 0"));
    }

    /// A file of the user is an entry like the others, trained into a folder of its name.
    void ownEntry() {
        const QString path = folder_.filePath("my-depth.json");
        const auto write = [&](const QByteArray& text) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
        };
        write(kOwnEntry);
        const CliResult result = run_cli({"gallery", path, "--out", folder_.filePath("mine"), "--json"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QJsonObject entry = entry_of(result);
        QCOMPARE(entry["id"].toString(), QString("my-depth"));
        QCOMPARE(entry["paper"].toString(), QString("own"));
        QCOMPARE(entry["measures"].toArray()[0].toObject()["verdict"].toString(), QString("as the paper"));
        QVERIFY(QFile::exists(folder_.filePath("mine/my-depth/sweep.json")));
        for (const auto& [name, text, problem] :
             {std::tuple("my-depth.json", "{", "my-depth"), std::tuple("e-fig2.json", "{}", "has that name"),
              std::tuple("a b.json", "{}", "also that of a folder"),
              std::tuple("none/there.json", "", "cannot be read")}) {
            QFile file(folder_.filePath(name));
            if (*text && file.open(QIODevice::WriteOnly)) file.write(text);
            file.close();
            const CliResult bad = run_cli({"gallery", folder_.filePath(name)});
            QCOMPARE(bad.code, 2);
            QCOMPARE(bad.error_lines().size(), 1);
            QVERIFY2(bad.error.contains(problem), qPrintable(bad.error));
        }
    }

    void invalid() {
        const CliResult unknown = run_cli({"gallery", "x-fig1"});
        QCOMPARE(unknown.code, 2);
        QCOMPARE(unknown.error_lines().size(), 1);
        QVERIFY(unknown.error.contains("\"x-fig1\" is unknown, allowed: `gallery` lists them"));
        // A folder of another sweep is not touched.
        QDir().mkpath(folder_.filePath("other/e-fig2"));
        const CliResult sweep =
            run_cli(QStringList{"sweep", "pre-ln", "--grid", "stack.scheme=pre", "--steps", "1", "--out",
                                folder_.filePath("other/e-fig2")} +
                    small_stack());
        QVERIFY2(sweep.code == 0, qPrintable(sweep.error));
        for (const QString& option : {QString("--no-training"), QString("--json")}) {
            const CliResult result =
                run_cli({"gallery", "e-fig2", "--out", folder_.filePath("other"), option});
            QCOMPARE(result.code, 2);
            QCOMPARE(result.error_lines().size(), 1);
        }
    }
};

NORMSCOPE_TEST(GalleryCommandTest)
#include "gallery_test.moc"
