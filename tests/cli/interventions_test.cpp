// SPDX-License-Identifier: GPL-3.0-or-later
// Interventions of `train`: printed, resumed, and no model file has their ε.
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

using namespace normscope;

class CliInterventionsTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }
    /// In BF16 at ε = 0.1 the rule acts from step 0 on.
    QStringList train(const char* out,
                      const QString& entry = R"({"rho":0.3,"cap":1,"every":3,"samples":2})") const {
        return QStringList{"train",   "pre-ln",
                           "--out",   path(out),
                           "--steps", "8",
                           "--set",   "precision=bf16",
                           "--set",   "stack.norm.eps=0.1",
                           "--set",   "interventions=[" + entry + "]"} +
               small_stack();
    }

  private Q_SLOTS:
    void eachChangeIsPrintedAndRecorded() {
        const CliResult result = run_cli(train("run.h5"));
        QCOMPARE(result.code, 0);
        QVERIFY2(result.out.contains("step 0: intervention, ε raised: blocks.0.attn.norm_in 0.1 → "),
                 qPrintable(result.out));
        QVERIFY2(result.out.contains("step 7: intervention, ε of every norm is 0.1 again"),
                 qPrintable(result.out));
        const RunData run = open_session(path("run.h5").toStdString()).runs.at(0);
        QCOMPARE(std::count_if(run.events.begin(), run.events.end(),
                               [](const RunEvent& e) { return e.kind == "intervention"; }),
                 result.out.count(": intervention, "));
    }

    void aModelFileHasOneEps() {
        const CliResult raised = run_cli({"export", path("run.h5") + "@5", "--out", path("m.safetensors")});
        QCOMPARE(raised.code, 2);
        QCOMPARE(raised.error_lines().size(), 1);
        QVERIFY2(raised.error.contains("step 5: has norms whose ε an intervention had raised"),
                 qPrintable(raised.error));
        QVERIFY(!QFile::exists(path("m.safetensors")));
        QCOMPARE(run_cli({"export", path("run.h5"), "--out", path("m.safetensors")}).code, 0);
    }

    void whatIsWrongIsOneLine() {
        for (const auto& [entry, line] : {std::pair{R"({"cap":0.01})", "cap: 0.01 is below the present ε"},
                                          {R"({"kind":"lower"})", "kind: \"lower\" is not known"},
                                          {R"({"cap":1,"floor":2})", "floor: 2 is above the cap"}}) {
            const CliResult result = run_cli(train("bad.h5", entry));
            QCOMPARE(result.code, 2);
            QCOMPARE(result.error_lines().size(), 1);
            QVERIFY2(result.error.contains(line), qPrintable(result.error));
            QVERIFY(!QFile::exists(path("bad.h5")));
        }
    }
};

NORMSCOPE_TEST(CliInterventionsTest)
#include "interventions_test.moc"
