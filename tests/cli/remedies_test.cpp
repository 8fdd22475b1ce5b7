// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

namespace {

/// A small stack that learns nothing at this rate.
QStringList failing() {
    return small_stack() + QStringList{"--set", "optimizer.lr=0.3", "--set", "steps=40"};
}

}  // namespace

class RemediesCommandTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

  private Q_SLOTS:
    void aFailedRecipeHasItsDraftsAndWholeRuns() {
        const CliResult result =
            run_cli(QStringList{"remedies", "pre-ln", "--json", "--try-all"} + failing());
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QJsonObject reply = QJsonDocument::fromJson(result.out.toUtf8()).object();
        QCOMPARE(reply["state"].toString(), QString("stalled"));
        QVERIFY(reply["headline"].toString().startsWith("Stalled "));
        QCOMPARE(reply["losses"].toArray().size(), 16);
        const QJsonArray remedies = reply["remedies"].toArray();
        QVERIFY(remedies.size() >= 8);
        int shown = 0;
        for (const auto& value : remedies) {
            const QJsonObject remedy = value.toObject();
            QCOMPARE(remedy["enough"].toBool(), remedy["why_not"].toString().isEmpty());
            QVERIFY(!remedy.contains("rank"));
            const bool measured = remedy["gain"].isDouble() && remedy["gain_error"].isDouble();
            QVERIFY2(measured || remedy["why_not"].toString().startsWith("diverged"),
                     qPrintable(remedy["id"].toString()));
            QVERIFY(QStringList({"training", "weights", "stack"}).contains(remedy["kind"].toString()));
            QVERIFY(remedy["reason"].isString());
            QCOMPARE(remedy["losses"].toArray().size(), remedy["steps"].toInt());
            if (remedy["shown"].toBool()) {
                QVERIFY(remedy["enough"].toBool());
                ++shown;
            }
            const QJsonObject whole = remedy["whole"].toObject();
            QVERIFY2(whole.contains("state"), qPrintable(remedy["id"].toString()));
            if (whole["state"] != "diverged") QCOMPARE(whole["steps"].toInt(), 40);
        }
        QVERIFY(shown >= 1 && shown <= 3);
        QCOMPARE(reply["control"].toString(), QString("later"));
    }

    /// Steps that are too small are offered larger ones, and no slower.
    void aRunAtALowRateIsOfferedARateThatLearns() {
        const QStringList slow =
            small_stack() + QStringList{"--set", "optimizer.lr=1e-6", "--set", "steps=40",
                                        "--set", "batch=8",           "--set", "stack.context=32",
                                        "--set", "stack.d_model=32"};
        const CliResult result = run_cli(QStringList{"remedies", "pre-ln", "--json"} + slow);
        QVERIFY2(result.code == 0, qPrintable(result.error));
        const QJsonObject reply = QJsonDocument::fromJson(result.out.toUtf8()).object();
        QCOMPARE(reply["control"].toString(), QString("slow"));
        bool offered = false;
        for (const auto& value : reply["remedies"].toArray()) {
            const QJsonObject remedy = value.toObject();
            QVERIFY(!remedy["id"].toString().startsWith("lr_over"));
            if (remedy["id"] == "lr_0.003") {
                offered = true;
                QVERIFY2(remedy["shown"].toBool(), qPrintable(remedy["why_not"].toString()));
                QVERIFY(remedy["reason"].toString().startsWith("the highest rate of a step was 10⁻⁶"));
            }
            if (remedy["enough"].toBool()) QVERIFY(remedy["gain"].toDouble() > 0.05);
            // It begins lower, and gains nothing by that.
            if (remedy["id"] == "init_gpt2") QVERIFY(!remedy["enough"].toBool());
        }
        QVERIFY(offered);
        const CliResult text = run_cli(QStringList{"remedies", "pre-ln"} + slow);
        QVERIFY2(text.out.contains("Drafts, not ranked: "), qPrintable(text.out));
        QVERIFY2(text.out.contains("* rate 0.003"), qPrintable(text.out));
        QVERIFY2(text.out.contains("measured: the highest rate of a step was 10⁻⁶"), qPrintable(text.out));
    }

    void aRecordedRunIsReadAndAgreesWithItsRecipe() {
        const QString out = folder_.filePath("run.h5");
        QCOMPARE(run_cli(QStringList{"train", "pre-ln", "--out", out} + failing()).code, 0);
        const CliResult recorded = run_cli({"remedies", out, "--threads", "1"});
        QVERIFY2(recorded.code == 0, qPrintable(recorded.error));
        QVERIFY2(recorded.out.contains("Pre-LN: Stalled "), qPrintable(recorded.out));
        const CliResult fresh = run_cli(QStringList{"remedies", "pre-ln"} + failing());
        QCOMPARE(recorded.out, fresh.out);
        const CliResult with_set = run_cli({"remedies", out, "--set", "seed=1"});
        QCOMPARE(with_set.code, 2);
        QCOMPARE(with_set.error_lines().size(), 1);
        const CliResult unknown = run_cli({"remedies", out, "--run", "z"});
        QCOMPARE(unknown.code, 2);
        QVERIFY(unknown.error.contains("a (stalled)"));
    }

    void aRunThatDidNotFailNeedsNone() {
        const CliResult result =
            run_cli(QStringList{"remedies", "pre-ln", "--set", "steps=10"} + small_stack());
        QCOMPARE(result.code, 0);
        QVERIFY2(result.out.startsWith("Pre-LN finished: "), qPrintable(result.out));
        QVERIFY(result.out.endsWith("; remedies are for runs that diverged, collapsed or stalled\n"));
        const QString out = folder_.filePath("finished.h5");
        const QStringList train{"train", "pre-ln", "--out", out, "--set", "steps=10"};
        QCOMPARE(run_cli(train + small_stack()).code, 0);
        const CliResult recorded = run_cli({"remedies", out});
        QCOMPARE(recorded.code, 2);
        QVERIFY2(recorded.error.contains("has no run that diverged, collapsed or stalled") &&
                     recorded.error.contains("(finished)"),
                 qPrintable(recorded.error));
    }
};

NORMSCOPE_TEST(RemediesCommandTest)
#include "remedies_test.moc"
