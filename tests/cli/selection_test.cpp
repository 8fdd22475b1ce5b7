// SPDX-License-Identifier: GPL-3.0-or-later
// --only of `train` and `probe`.
#include "core/session/named_arrays.h"
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

using namespace normscope;

class SelectionTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }
    CliResult train(const char* out, const QStringList& more) const {
        return run_cli(QStringList{"train", "pre-ln", "--out", path(out), "--steps", "6"} + small_stack() +
                       more);
    }
    RunData run(const char* out) const { return open_session(path(out).toStdString()).runs.at(0); }

  private Q_SLOTS:
    void trainMeasuresTheSelectedPlaces() {
        const CliResult result = train("part.h5", {"--only", "blocks.0,blocks.*.norm_in"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY2(result.out.contains("probes only blocks.0, blocks.*.norm_in: "), qPrintable(result.out));
        QVERIFY(train("whole.h5", {}).code == 0);
        const RunData part = run("part.h5"), whole = run("whole.h5");
        QCOMPARE(*part.steps.find("loss"), *whole.steps.find("loss"));
        int selections = 0;
        for (const ProbePlan& plan : part.recipe.get()->probes) selections += !plan.only.empty();
        QCOMPARE(selections + 1, static_cast<int>(part.recipe.get()->probes.size()));  // growth has none
        QVERIFY(whole.recipe.text().find("\"only\"") == std::string::npos);
        const auto& hidden = part.probes.at("gradients").front().find("hidden")->data;
        const auto& all = whole.probes.at("gradients").front().find("hidden")->data;
        QCOMPARE(hidden[1], all[1]);
        QCOMPARE(hidden[2], all[2]);
        QVERIFY(std::isnan(hidden[0]) && std::isnan(hidden[3]));
        QCOMPARE(run_cli({"validate", path("part.h5")}).code, 0);
    }

    void aPresetTakesASelection() {
        const CliResult result = train("economy.h5", {"--probes", "economy", "--only", "blocks.1"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QVERIFY2(result.out.contains("probes economy, only blocks.1: 5, predicted"), qPrintable(result.out));
    }

    void probeMeasuresTheSelectedPlaces() {
        const auto probe = [&](const char* out, const QStringList& more) {
            return run_cli(
                QStringList{"probe", "pre-ln", "--probes", "growth,residual,theta", "--out", path(out)} +
                small_stack() + more);
        };
        const CliResult part = probe("p.h5", {"--only", "blocks.1"}), whole = probe("w.h5", {});
        QVERIFY2(part.code == 0 && whole.code == 0, qPrintable(part.error + whole.error));
        const auto read = [&](const char* file, const char* array) {
            return read_file_array<double>(path(file).toStdString(), array).data;
        };
        const auto ratio = read("p.h5", "/probes/residual/branch_ratio"),
                   all = read("w.h5", "/probes/residual/branch_ratio");
        QVERIFY(std::isnan(ratio[0]) && std::isnan(ratio[1]));
        QCOMPARE(ratio[2], all[2]);
        QCOMPARE(ratio[3], all[3]);
        QCOMPARE(read("p.h5", "/probes/growth/rms"), read("w.h5", "/probes/growth/rms"));
    }

    void checkOfARunWithASelectionIsUnknown() {
        QVERIFY(train("post.h5", {"--set", "stack.scheme=post", "--only", "blocks.1"}).code == 0);
        const CliResult result = run_cli({"check", path("post.h5"), "--json", "--only", "E21,E32"});
        QVERIFY2(result.code == 0, qPrintable(result.error));
        QCOMPARE(result.out.count("\"verdict\": \"unknown\"") + result.out.count("\"verdict\":\"unknown\""),
                 2);
        QVERIFY2(result.out.contains("measured only blocks.1"), qPrintable(result.out));
    }

    void aBadPatternIsOneLine_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("message");
        const QStringList train{"train", "pre-ln", "--out", path("bad.h5"), "--steps", "1"},
            probe{"probe", "pre-ln", "--out", path("bad.h5")};
        for (const QStringList& of : {train, probe}) {
            QTest::newRow(qPrintable(of.front() + " place"))
                << of + QStringList{"--only", "blocks.0, blocks.12"}
                << "normscope-cli: --only: \"blocks.12\" selects no place of this stack, allowed: patterns "
                   "over names";
            QTest::newRow(qPrintable(of.front() + " empty"))
                << of + QStringList{"--only", "blocks.0,"}
                << "normscope-cli: --only: an empty pattern, allowed: ";
        }
        QTest::newRow("recipe")
            << train + QStringList{"--set", R"(probes=[{"id":"growth","only":"blocks.0"}])"}
            << "normscope-cli: probes[0].only: growth measures the whole stack, allowed: with gradients";
        QTest::newRow("no patterns") << train + QStringList{"--only"} << "normscope-cli: --only";
    }
    void aBadPatternIsOneLine() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, message);
        const CliResult result = run_cli(arguments);
        QCOMPARE(result.code, 2);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.startsWith(message), qPrintable(result.error));
        QVERIFY(!QFile::exists(path("bad.h5")));
    }
};

NORMSCOPE_TEST(SelectionTest)
#include "selection_test.moc"
