// SPDX-License-Identifier: GPL-3.0-or-later
// The program from outside: arguments, exit codes, `normscope figure`.
#include "core/run/experiment.h"
#include "core/session/session.h"
#include "tests/app/window/small_recipe.h"
#include "tests/session/replace_recipe.h"
#include "tests/support/test_main.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace normscope;

namespace {

struct Result {
    int code;
    QByteArray out, error;
    bool oneLine() const { return error.count('\n') == 1 && error.endsWith('\n'); }
};

/// `platform`: the Qt platform; empty: a machine without a display.
Result run(const QStringList& arguments, const QString& platform = {}) {
    QProcess process;
    QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        env.remove(QLatin1String(name));
    if (!platform.isEmpty()) env.insert(QStringLiteral("QT_QPA_PLATFORM"), platform);
    process.setProcessEnvironment(env);
    process.start(QStringLiteral(NORMSCOPE_PROGRAM), arguments);
    if (!process.waitForFinished(60000) || process.exitStatus() != QProcess::NormalExit)
        return {-1, {}, "crashed\n"};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

}  // namespace

class ProgramTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString session_;

    static QByteArray contentsOf(const QString& path) {
        QFile file(path);
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
    }

    /// Three sessions of Pre-LN and Post-LN, one for each seed.
    QStringList seeds() {
        QStringList paths;
        for (int seed = 0; seed < 3; ++seed) {
            paths << folder_.filePath(QString("seed%1.h5").arg(seed));
            if (QFile::exists(paths.back())) continue;
            std::vector<RunData> runs;
            ThreadPool pool(1);
            for (const auto& [id, scheme] : {std::pair{"a", Scheme::Pre}, std::pair{"b", Scheme::Post}}) {
                Recipe recipe = test::smallRecipe(scheme);
                recipe.train.seed = std::uint64_t(seed);
                complete_and_validate(recipe);
                Experiment experiment(recipe, id, default_run_name(recipe));
                RunData data = experiment.header();
                while (!experiment.ended()) append(data, experiment.advance(pool));
                runs.push_back(data);
            }
            save_session(paths.back().toStdString(), runs, "{}");
        }
        return paths;
    }

  private Q_SLOTS:
    void initTestCase() {
        session_ = folder_.filePath("two.h5");
        std::vector<RunData> runs;
        ThreadPool pool(1);
        for (const auto& [id, scheme] : {std::pair{"a", Scheme::Pre}, std::pair{"b", Scheme::Post}}) {
            Recipe recipe = test::smallRecipe(scheme);
            complete_and_validate(recipe);
            Experiment experiment(recipe, id, default_run_name(recipe));
            RunData data = experiment.header();
            while (!experiment.ended()) append(data, experiment.advance(pool));
            runs.push_back(data);
        }
        save_session(session_.toStdString(), runs, "{}");
    }

    void withoutADisplayThereIsAnErrorAndNoAbort() {
        const Result r = run({});
        QCOMPARE(r.code, 2);
        QVERIFY2(r.oneLine(), r.error);
        QVERIFY(r.error.contains("display"));
    }

    void aFigureIsDrawnWithoutADisplay_data() {
        QTest::addColumn<QString>("panel");
        for (const char* panel : {"growth", "gradients", "jacobian", "training", "null_space", "theta"})
            QTest::newRow(panel) << panel;
    }
    void aFigureIsDrawnWithoutADisplay() {
        QFETCH(QString, panel);
        const QString svg = folder_.filePath(panel + ".svg"), csv = folder_.filePath(panel + ".csv");
        const Result r =
            run({"figure", session_, "--panel", panel, "--out", svg, "--csv", csv, "--size", "120x80mm"});
        QVERIFY2(r.code == 0, r.error);
        QCOMPARE(r.error, QByteArray());
        QFile figure(svg), table(csv);
        QVERIFY(figure.open(QFile::ReadOnly) && table.open(QFile::ReadOnly));
        const QByteArray text = figure.readAll();
        QVERIFY(text.contains("120mm") && text.contains("80mm"));
        QVERIFY(text.contains("normscope-recipe"));
        QVERIFY(table.readAll().count('\n') > 3);
    }

    void theHelpListsEveryPanel() {
        const Result r = run({"figure", "--help"});
        QCOMPARE(r.code, 0);
        const QString help = QString::fromUtf8(r.out).simplified();
        QVERIFY(help.contains("growth (default), "));
        QString grouped;
        for (const widgets::PanelInfo& panel : widgets::panels()) {
            const QString id = QString::fromStdString(panel.id);
            QVERIFY2(help.contains(id + (panel.id == "growth" ? " (default)" : "")), panel.id.c_str());
            if (panel.groups) grouped += (grouped.isEmpty() ? "" : ", ") + id;
        }
        QVERIFY2(help.contains("For " + grouped), qPrintable(help));
    }

    void noExportReplacesASession() {
        const QByteArray before = contentsOf(session_);
        for (const char* option : {"--out", "--csv", "--save-spec"}) {
            const QString target =
                folder_.filePath(option == QByteArray("--out") ? "target.svg" : "target.h5");
            QVERIFY(QFile::copy(session_, target));
            const Result r = run({"figure", session_, "--panel", "growth", option, target});
            QCOMPARE(r.code, 2);
            QVERIFY2(r.oneLine() && r.error.contains("is an HDF5 file and is not replaced"), r.error);
            QCOMPARE(contentsOf(target), before);
            QVERIFY(QFile::remove(target));
        }
    }

    /// The theme is that of the command line, else the user's, light at first: not that of who saved the
    /// session.
    void theThemeIsTheCommandLinesOrTheUsers() {
        const QString dark = folder_.filePath("dark.h5"), png = folder_.filePath("window.png");
        save_session(dark.toStdString(), open_session(session_.toStdString()).runs,
                     R"({"version": 1, "dark": true, "wide": false, "cells": [], "focus": -1, "linked": true,
                         "knobs": {}, "run": 0, "layer": -1, "head": -1, "step": null})");
        for (const char* theme : {"", "light", "dark"}) {
            QStringList arguments{dark, "--screenshot", png};
            if (*theme) arguments << "--theme" << theme;
            const Result r = run(arguments, "offscreen");
            QVERIFY2(r.code == 0, r.error);
            const int corner = qGray(QImage(png).pixel(2, 2));
            QVERIFY2(std::string(theme) == "dark" ? corner < 128 : corner > 128, theme);
        }
    }

    /// An installation has neither tests nor their program: it states where they come from, and opens no
    /// window.
    void withoutTheTestsBuildMeasurementsAreOneLine() {
        qputenv("NORMSCOPE_BENCH_UI", folder_.filePath("none").toLocal8Bit());
        const Result bench = run({"--bench-ui"}, "offscreen"),
                     image = run({"--screenshot", folder_.filePath("none.png")}, "offscreen");
        qunsetenv("NORMSCOPE_BENCH_UI");
        QCOMPARE(bench.code, 1);
        QVERIFY2(bench.oneLine() && bench.error.startsWith("normscope: --bench-ui: "), bench.error);
        QVERIFY2(image.oneLine() && image.error.startsWith("normscope: --screenshot: "), image.error);
        QVERIFY2(image.error.contains("the tests' build"), image.error);
        QCOMPARE(image.code, 1);
        QVERIFY(!QFile::exists(folder_.filePath("none.png")));
    }

    void runsAndStepAndScaleAreObeyed() {
        const QString csv = folder_.filePath("one.csv");
        QCOMPARE(run({"figure", session_, "--panel", "training", "--runs", "b", "--csv", csv}).code, 0);
        QFile table(csv);
        QVERIFY(table.open(QFile::ReadOnly));
        const QByteArray text = table.readAll();
        QVERIFY(text.contains("Post-LN") && !text.contains("Pre-LN"));
        const QString zero = folder_.filePath("zero.csv"), last = folder_.filePath("last.csv");
        QCOMPARE(run({"figure", session_, "--step", "0", "--csv", zero}).code, 0);
        QCOMPARE(run({"figure", session_, "--csv", last}).code, 0);
        QFile a(zero), b(last);
        QVERIFY(a.open(QFile::ReadOnly) && b.open(QFile::ReadOnly));
        QVERIFY(a.readAll() != b.readAll());
    }

    /// Two seeds of each scheme, in three files, as groups; a file that is gone costs its runs alone.
    void severalSessionsAreOneFigureInGroups() {
        const QStringList sessions = seeds();
        const QString csv = folder_.filePath("groups.csv"), pdf = folder_.filePath("groups.pdf");
        const QStringList base =
            QStringList{"figure"} + sessions +
            QStringList{"--panel", "gradients", "--group-by", "scheme", "--band", "minmax"};
        Result r = run(base + QStringList{"--csv", csv, "--out", pdf, "--size", "85x60mm", "--font-pt", "8"});
        QVERIFY2(r.code == 0 && r.error.isEmpty(), r.error);
        const QByteArray table = contentsOf(csv);
        QVERIFY(table.startsWith("plot,kind,series,x,x_name,y,value,low,high,run,step,error,n\n"));
        QVERIFY2(table.contains("0,median,Pre-LN,0,") && table.contains("0,median,Post-LN,0,"), table);
        QVERIFY2(table.split('\n').at(1).endsWith(",3"), table);
        r = run(base + QStringList{folder_.filePath("gone.h5"), "--csv", csv});
        QCOMPARE(r.code, 0);
        QVERIFY2(r.oneLine() && r.error.contains("gone.h5"), r.error);
        QCOMPARE(contentsOf(csv), table);
    }

    /// In two processes, from the command's arguments and from the specification that it saves.
    void aSpecificationRedrawsItsFigureByteForByte() {
        const QString spec = folder_.filePath("figure.json");
        for (const char* ending : {"pdf", "svg", "png"}) {
            const QString out = folder_.filePath(QString("first.") + ending),
                          again = folder_.filePath(QString("again.") + ending);
            Result r = run(QStringList{"figure"} + seeds() +
                           QStringList{"--panel", "training", "--group-by", "scheme", "--band", "iqr", "--y",
                                       "log", "--title", "off", "--out", out, "--save-spec", spec});
            QVERIFY2(r.code == 0, r.error);
            r = run({"figure", "--spec", spec, "--out", again});
            QVERIFY2(r.code == 0, r.error);
            QVERIFY(contentsOf(out).size() > 1000);
            QVERIFY2(contentsOf(out) == contentsOf(again), ending);
        }
        QVERIFY(contentsOf(spec).contains("\"seed0.h5\""));  // relative to its own folder
        const QString changed = folder_.filePath("changed.svg");
        QCOMPARE(run({"figure", "--spec", spec, "--band", "none", "--out", changed}).code, 0);
        QVERIFY(contentsOf(changed) != contentsOf(folder_.filePath("first.svg")));

        // A title of one's own is in the figure and in the specification.
        const QString titled = folder_.filePath("titled.svg"), again = folder_.filePath("titled again.svg");
        QCOMPARE(run({"figure", "--spec", spec, "--title", "Six runs & more", "--out", titled, "--save-spec",
                      spec})
                     .code,
                 0);
        QVERIFY(contentsOf(titled).contains("Six runs &amp; more"));
        QVERIFY(contentsOf(spec).contains("\"title\": \"Six runs & more\""));
        QCOMPARE(run({"figure", "--spec", spec, "--out", again}).code, 0);
        QVERIFY(contentsOf(again) == contentsOf(titled));
    }

    void hostileRecipesAreOneLine() {
        const QString file = folder_.filePath("hostile.h5"), out = folder_.filePath("x.svg");
        for (const std::string& recipe :
             {std::string(200'000, '[') + std::string(200'000, ']'),
              R"({"format": "normscope-recipe", "version": 1, "stack": )" + std::string(200'000, '[') +
                  std::string(200'000, ']') + "}",
              std::string(R"({"format": "normscope-recipe", "version": 1, "optimizer": {"lr": 1e999}})"),
              std::string(R"({"format": "normscope-recipe", "version": 1, "steps": 1, "steps": 2})")}) {
            QFile::remove(file);
            QVERIFY(QFile::copy(session_, file));
            test::replace_recipe(file.toStdString(), recipe);
            const Result r = run({"figure", file, "--panel", "growth", "--out", out});
            // A run whose recipe cannot be read is still shown.
            QVERIFY2(r.code == 0 || (r.code == 2 && r.oneLine() && r.error.size() < 1000),
                     r.error.left(1000).constData());
            QCOMPARE(QFile::exists(out), r.code == 0);
            QFile::remove(out);
        }
    }

    void wrongInputIsOneLineAndCodeTwo_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("names");
        const QStringList base{"figure", session_, "--out", folder_.filePath("x.svg")};
        QTest::newRow("panel") << base + QStringList{"--panel", "nope"} << "growth";
        QTest::newRow("run") << base + QStringList{"--runs", "z"} << "z";
        QTest::newRow("size") << base + QStringList{"--size", "big"} << "--size";
        QTest::newRow("size range") << base + QStringList{"--size", "1x1mm"} << "10";
        QTest::newRow("scale") << base + QStringList{"--x", "cubic"} << "linear, log";
        QTest::newRow("range") << base + QStringList{"--range", "y=3:1"} << "--range";
        QTest::newRow("option") << base + QStringList{"--option", "quantity=foo"} << "quantity";
        QTest::newRow("ending") << QStringList{"figure", session_, "--out", folder_.filePath("x.gif")}
                                << ".svg";
        QTest::newRow("group key") << base + QStringList{"--group-by", "lr"}
                                   << "allowed: seed, scheme, stack.scheme";
        QTest::newRow("group panel") << base + QStringList{"--group-by", "seed", "--panel", "theta"}
                                     << "allowed: growth, gradients, training";
        QTest::newRow("band") << base + QStringList{"--group-by", "seed", "--band", "wide"}
                              << "minmax, iqr, se, none";
        QTest::newRow("band of single runs") << base + QStringList{"--band", "iqr"} << "--group-by";
        QTest::newRow("switch") << base + QStringList{"--ratio", "maybe"} << "on, off";
        QTest::newRow("no session") << QStringList{"figure", "--out", "x.svg"} << "SESSION.h5";
        QTest::newRow("no spec") << QStringList{"figure", "--spec", "/nowhere.json", "--out", "x.svg"}
                                 << "/nowhere.json";
        QTest::newRow("gallery entry") << base + QStringList{"--gallery", "b-nothing"} << "b-nothing";
        QTest::newRow("gallery folder") << base + QStringList{"--gallery", "b-exp3-arms"} << "holds no sweep";
        QTest::newRow("gallery measure")
            << base + QStringList{"--gallery", "b-exp3-arms", "--measure", "9"} << "1 to 6";
        QTest::newRow("measure alone") << base + QStringList{"--measure", "2"} << "--gallery";
        QTest::newRow("gallery specification")
            << base + QStringList{"--gallery", "b-exp3-arms", "--save-spec", "x.json"} << "--save-spec";
        QTest::newRow("no target") << QStringList{"figure", session_} << "--out";
        QTest::newRow("no file") << QStringList{"figure", "/nowhere.h5", "--out", "x.svg"} << "/nowhere.h5";
        const QString crashing = QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/session/crashing/event-list.h5");
        QTest::newRow("crash") << QStringList{"figure", crashing, "--out", "x.svg"}
                               << "damaged so that it makes the HDF5 library crash";
        QTest::newRow("unknown flag") << base + QStringList{"--frobnicate"} << "frobnicate";
        QTest::newRow("window flag") << QStringList{"--frobnicate"} << "frobnicate";
        QTest::newRow("device") << QStringList{"--backend", "tpu"}
                                << "--backend: tpu is not available in this build, allowed: auto, cpu";
        QTest::newRow("missing device")
            << QStringList{"--backend", "cuda"}
            << "cuda is not available: NORMSCOPE_CUDA_PLUGIN is empty, allowed: auto";
        QTest::newRow("window size") << QStringList{"--size", "12"} << "--size";
    }
    void wrongInputIsOneLineAndCodeTwo() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, names);
        const Result r = run(arguments);
        QCOMPARE(r.code, 2);
        QVERIFY2(r.oneLine(), r.error);
        QVERIFY2(QString::fromUtf8(r.error).contains(names), r.error);
    }

    void anUnwritableTargetIsCodeOne() {
        const Result r = run({"figure", session_, "--out", "/proc/nowhere/x.svg"});
        QCOMPARE(r.code, 1);
        QVERIFY2(r.oneLine(), r.error);
    }
};

NORMSCOPE_TEST(ProgramTest)
#include "program_test.moc"
