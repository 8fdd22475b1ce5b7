// SPDX-License-Identifier: GPL-3.0-or-later
// `normscope --bench-ui` from outside. How long anything takes is not tested.
#include "tests/support/test_main.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTest>

namespace {

struct Result {
    int code = -1;
    QByteArray out, error;
    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

Result bench(const QStringList& more) {
    QProcess process;
    process.start(QStringLiteral(NORMSCOPE_PROGRAM), QStringList{"--bench-ui", "--seconds", "0.4"} + more);
    if (!process.waitForFinished(280000) || process.exitStatus() != QProcess::NormalExit)
        return {-1, {}, "did not end: " + process.readAllStandardError()};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

void hasKeys(const QJsonObject& object, const QStringList& keys) {
    for (const QString& key : keys) QVERIFY2(object.contains(key), qPrintable(key));
}

const QStringList kStages{"interface_queue", "knob",  "engine_wait", "engine_queue", "rebuild", "probes",
                          "reply_queue",     "apply", "figures",     "paint_wait",   "paint",   "flush"};

}  // namespace

class BenchUiTest : public QObject {
    Q_OBJECT
    Result result_;

  private Q_SLOTS:
    void initTestCase() {
        result_ = bench({"--json"});
        QVERIFY2(result_.code == 0, result_.error);
        QVERIFY2(!result_.json().isEmpty(), result_.out);
    }

    void everyKeyIsThere() {
        const QJsonObject all = result_.json();
        hasKeys(all, {"platform", "size", "seconds", "rate_hz", "cores", "threads", "runs", "panels",
                      "self_check", "knobs", "stalls"});
        hasKeys(all["self_check"].toObject(), {"stall_ms", "watchdog_ms", "move_ms", "ok"});
        hasKeys(all["stalls"].toObject(), {"p50", "p95", "p99", "max", "limit_ms", "met", "waits", "resizes",
                                           "steps", "all_trained", "slow_events"});
        QStringList knobs;
        for (const QJsonValue& value : all["knobs"].toArray()) {
            const QJsonObject knob = value.toObject();
            knobs << knob["knob"].toString();
            hasKeys(knob, {"knob",
                           "title",
                           "from",
                           "to",
                           "moves_sent",
                           "moves",
                           "images",
                           "share",
                           "dropped",
                           "ms",
                           "mean_ms",
                           "limit_ms",
                           "met",
                           "stages",
                           "unaccounted_ms",
                           "slowest_stage",
                           "later",
                           "later_figures",
                           "updates_per_s",
                           "probes",
                           "figures",
                           "paint",
                           "paint_other",
                           "event_ms"});
            hasKeys(knob["ms"].toObject(), {"p50", "p95", "p99", "max"});
            QCOMPARE(knob["stages"].toObject().keys().size(), kStages.size());
            hasKeys(knob["stages"].toObject(), kStages);
            QVERIFY(kStages.contains(knob["slowest_stage"].toString()));
        }
        QCOMPARE(knobs, (QStringList{"stack.residual_step", "stack.temperature", "stack.depth",
                                     "stack.d_model", "stack.scheme"}));
        QCOMPARE(all["size"].toArray(), (QJsonArray{1440, 900}));
        QCOMPARE(all["runs"].toInt(), 2);
        QCOMPARE(all["panels"].toArray().size(), 4);
    }

    void everyKnobGotImages() {
        for (const QJsonValue& value : result_.json()["knobs"].toArray()) {
            const QJsonObject knob = value.toObject();
            const QByteArray name = knob["knob"].toString().toUtf8();
            QVERIFY2(knob["moves_sent"].toInt() == 24, name);
            QVERIFY2(knob["moves"].toInt() > 0 && knob["moves"].toInt() <= 24, name);
            QVERIFY2(knob["images"].toInt() > 0, name);
            QCOMPARE(knob["images"].toInt() + knob["dropped"].toInt(), knob["moves"].toInt());
            QVERIFY2(knob["ms"].toObject()["p50"].toDouble() > 0, name);
            QVERIFY2(knob["probes"].toObject().contains("growth"), name);
            QVERIFY2(knob["figures"].toObject()["growth.build"].toDouble() > 0, name);
            QVERIFY2(knob["paint"].toObject()["growth"].toDouble() > 0, name);
        }
    }

    void theStagesAddUpToTheLatency() {
        for (const QJsonValue& value : result_.json()["knobs"].toArray()) {
            const QJsonObject knob = value.toObject(), stages = knob["stages"].toObject();
            double sum = 0;
            for (const QString& stage : kStages) {
                const double mean = stages[stage].toObject()["mean"].toDouble();
                QVERIFY2(mean >= 0, qPrintable(stage));
                sum += mean;
            }
            QVERIFY(qAbs(sum - knob["mean_ms"].toDouble()) < 1e-6 * sum);
            QVERIFY(knob["unaccounted_ms"].toDouble() < 1e-6);
        }
    }

    void theStallShows() {
        const QJsonObject check = result_.json()["self_check"].toObject();
        QCOMPARE(check["stall_ms"].toInt(), 50);
        QVERIFY(check["ok"].toBool());
        QVERIFY(check["watchdog_ms"].toDouble() >= 45);
        QVERIFY(check["move_ms"].toDouble() >= 30);
    }

    void theWindowWasResizedWhileBothRunsTrained() {
        const QJsonObject stalls = result_.json()["stalls"].toObject();
        QVERIFY(stalls["waits"].toInt() > 0);
        QVERIFY(stalls["resizes"].toInt() > 0);
        QVERIFY(stalls["steps"].toInt() > 0);
        QVERIFY(stalls["all_trained"].toBool());
    }

    void aMeasurementThatDoesNotShowTheStallFails() {
        const Result result = bench({"--json", "--stall", "0"});
        const QJsonObject check = result.json()["self_check"].toObject();
        QCOMPARE(check["stall_ms"].toInt(), 0);
        // A loaded machine may stall the interface thread for as long.
        QCOMPARE(result.code, check["ok"].toBool() ? 0 : 1);
        if (check["watchdog_ms"].toDouble() < 45) QCOMPARE(result.code, 1);
        if (result.code == 1) {
            QVERIFY2(result.error.contains("measurement is wrong"), result.error);
            QCOMPARE(result.error.count('\n'), 1);
        }
    }

    void theTextNamesKnobsAndStages() {
        const Result result = bench({});
        QVERIFY2(result.code == 0, result.error);
        for (const char* word : {"Δt", "τ", "Depth", "Width", "Scheme", "slowest stage", "self-check",
                                 "waits of the interface thread"})
            QVERIFY2(result.out.contains(word), result.out);
    }
};

NORMSCOPE_TEST(BenchUiTest)
#include "bench_ui_test.moc"
