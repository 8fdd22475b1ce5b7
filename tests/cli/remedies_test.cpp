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
        QSet<int> ranks;
        double last_loss = 0;
        for (const auto& value : remedies) {
            const QJsonObject remedy = value.toObject();
            QCOMPARE(remedy["enough"].toBool(), remedy["why_not"].toString().isEmpty());
            QCOMPARE(remedy["enough"].toBool(), !remedy["rank"].isNull());
            QCOMPARE(remedy["losses"].toArray().size(), remedy["steps"].toInt());
            if (remedy["enough"].toBool()) ranks.insert(remedy["rank"].toInt());
            const QJsonObject whole = remedy["whole"].toObject();
            QVERIFY2(whole.contains("state"), qPrintable(remedy["id"].toString()));
            if (whole["state"] != "diverged") QCOMPARE(whole["steps"].toInt(), 40);
        }
        for (int rank = 1; rank <= ranks.size(); ++rank) {
            QVERIFY(ranks.contains(rank));
            for (const auto& value : remedies)
                if (value.toObject()["rank"].toInt() == rank) {
                    const double loss = value.toObject()["loss"].toDouble();
                    QVERIFY(loss >= last_loss);
                    last_loss = loss;
                }
        }
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
