// SPDX-License-Identifier: GPL-3.0-or-later
// Every state of the window can be read, at both sizes, light and dark.
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "core/backend/devices/devices.h"
#include "core/sweep/sweep_folder.h"
#include "legibility.h"
#include "program_font.h"
#include "small_recipe.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "window_bench.h"

#include <QAction>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

class LegibleWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

    /// Both sizes and both themes of one state.
    static void check(WindowBench& b, const char* state) {
        QStringList all;
        for (const QSize size : {QSize(1440, 900), QSize(1920, 1080)})
            for (const bool dark : {false, true}) {
                b.window->appearance()->setDark(dark);
                b.window->resize(size);
                test::settle();
                const QString where =
                    QStringLiteral("%1-%2-%3").arg(state).arg(size.width()).arg(dark ? "dark" : "light");
                b.keepScreenshot(where);
                for (const QString& fault : test::illegible(*b.window)) all << where + ": " + fault;
            }
        for (const QString& fault : all)
            qInfo().noquote() << fault;  // a failure's message is cut at 1,024 bytes
        QVERIFY2(all.isEmpty(), qPrintable(QStringLiteral("%1 faults, listed above").arg(all.size())));
    }

  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void fresh() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        check(b, "fresh");
    }

    void midDrag() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        auto* slider = qobject_cast<widgets::Knob*>(knobs->row("stack.residual_step"))->slider();
        const QPoint from = slider->thumb().toPoint(), to = from - QPoint(30, 0);
        QTest::mousePress(slider, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                         Qt::ShiftModifier);
        QCoreApplication::sendEvent(slider, &move);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
        check(b, "mid-drag");
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, to);
    }

    void training() {
        WindowBench b;
        b.lab().knobs().commitKey("steps", 30);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().lastStep() >= 20, 240000);
        b.lab().training().pause();
        check(b, "training");
    }

    void diverged() {
        WindowBench b;
        b.makeSmall(40);
        b.lab().runs().setLinked(false);
        b.lab().knobs().commitKey("optimizer.lr", 5.0);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        check(b, "diverged");
    }

    /// At a rate at which nothing learns: the band has its headline and the drafted remedies.
    void collapsed() {
        WindowBench b;
        b.lab().knobs().commitKey("optimizer.lr", 0.3);
        b.makeSmall(40);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.run(0).outcome.state, RunState::Stalled);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().remedies().trials() && b.lab().remedies().trials()->done(), 60000);
        check(b, "collapsed");
    }

    void deepStacksAndFourRuns() {
        WindowBench b;
        b.makeSmall(8);
        b.lab().knobs().commitKey("stack.depth", 24);
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (const Scheme scheme : {Scheme::Peri, Scheme::DeepNorm}) {
            recipe.stack.scheme = scheme;
            b.lab().runs().add(recipe);
        }
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        check(b, "24-layers-4-runs");
    }

    void sixGroupsOfThree() {
        WindowBench b;
        b.makeSmall(12);
        b.lab().knobs().commitKey("data.source", std::string("markov"));  // five floors far apart
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (const Scheme scheme : {Scheme::Peri, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns}) {
            recipe.stack.scheme = scheme;
            b.lab().runs().add(recipe);
        }
        b.lab().runs().addSeeds(2);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        check(b, "6-groups-of-3");
    }

    void twelveRuns() {
        WindowBench b;
        b.makeSmall(8);
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (int i = 0; i < 10; ++i) {
            recipe.train.optimizer.lr = 0.001 * (i + 1);
            b.lab().runs().add(recipe);
        }
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        check(b, "12-runs");
    }

    void reopened() {
        WindowBench b;
        b.makeSmall(12);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        b.lab().view().setStep(5);
        const QString path = b.folder.filePath("session.h5");
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        b.window.reset();
        b.open();
        QSignalSpy opened(&b.lab().session(), &LabSession::opened);
        b.window->files()->openSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QCOMPARE(b.lab().view().step(), qint64(5));
        check(b, "reopened");
    }

    /// Six schemes by four rates.
    void sweepMap() {
        WindowBench b;
        SweepSpec spec;
        spec.recipe = recipe_json(test::smallRecipe(Scheme::Pre, 12));
        spec.grid = {{"stack.scheme", {"post", "pre", "peri", "deepnorm", "mix", "lns"}},
                     {"optimizer.lr", {"0.0003", "0.001", "0.003", "0.01"}}};
        spec.seeds = {42, 43, 44};
        SweepOptions options;
        options.folder = b.folder.filePath("sweep").toStdString();
        options.threads = 1;
        SweepWatcher watcher;
        run_sweep(spec, device_named("cpu"), options, watcher);
        b.window->sweeps()->open(QString::fromStdString(options.folder));
        QTRY_VERIFY_WITH_TIMEOUT(b.window->sweeps()->shown(), 20000);
        check(b, "sweep-map");
    }
};

NORMSCOPE_WIDGET_TEST(LegibleWindowTest)
#include "legible_window_test.moc"
