// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/window_view.h"
#include "core/session/process/guard.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/runs/run_strip.h"
#include "widgets/stack/stack_view.h"
#include "window_bench.h"

#include <nlohmann/json.hpp>

#include <QComboBox>
#include <QFile>
#include <QScreen>
#include <QSignalSpy>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

std::map<std::string, QByteArray> tables(const WindowBench& b) {
    std::map<std::string, QByteArray> all;
    for (const widgets::PanelCell* cell : b.window->views().grid->visibleCells())
        all[cell->panel()] = cell->csv();
    return all;
}

/// Every value of a run, NaN by its bits.
std::vector<std::vector<double>> series(const RunData& run) {
    std::vector<std::vector<double>> all = run.steps.columns;
    all.emplace_back(run.steps.step.begin(), run.steps.step.end());
    for (const auto& [probe, samples] : run.probes)
        for (const ProbeResult& sample : samples) {
            all.push_back({static_cast<double>(sample.step)});
            for (const NamedArray& array : sample.arrays) all.push_back(array.data);
        }
    return all;
}

bool sameBits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double u, double v) {
            return std::bit_cast<std::uint64_t>(u) == std::bit_cast<std::uint64_t>(v);
        });
    });
}

/// As a user does: opens the menu of the knob and selects the word with the keys.
void chooseScheme(WindowBench& b, const QString& scheme) {
    auto* knob =
        qobject_cast<widgets::ChoiceKnob*>(b.find<widgets::KnobPanel>("knobPanel")->row("stack.scheme"));
    QComboBox* box = knob->box();
    box->setFocus();
    while (box->currentIndex() > 0) QTest::keyClick(box, Qt::Key_Up);
    for (int i = 0; i < box->findData(scheme); ++i) QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(knob->value(), scheme);
}

/// The number of paths of an exported figure; with `blank`, of the same axes without curves.
qsizetype paths(widgets::Figure figure, bool blank, const QString& path) {
    if (blank)
        for (widgets::Plot& plot : figure.plots)
            for (widgets::Curve& curve : plot.curves) std::fill(curve.y.begin(), curve.y.end(), std::nan(""));
    widgets::exportFigure(figure, {}, path);
    QFile svg(path);
    return svg.open(QFile::ReadOnly) ? svg.readAll().count("<path") : -1;
}

/// Saves, closes, opens a new window and the session in it.
void saveAndReopen(WindowBench& b, const QString& path) {
    QSignalSpy saved(&b.lab().session(), &LabSession::saved);
    b.window->files()->saveSession(path);
    QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
    b.window.reset();
    b.open();
    QSignalSpy opened(&b.lab().session(), &LabSession::opened);
    b.window->files()->openSession(path);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    test::settle();
}

}  // namespace

class SessionWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theSameScreenComesBack() {
        WindowBench b;
        b.makeSmall(12);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        b.window->resize(1800, 1000);
        QTRY_COMPARE(b.window->views().grid->visibleCells().size(), 6u);
        b.lab().view().setStep(5);
        if (b.lab().measurement().obstacle().isEmpty())
            b.lab().measurement().measureHere();  // every panel has a sample
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().measurement().running(), 20000);
        b.lab().view().selectLayer(1, 0);
        // Zoom, log switches, options.
        widgets::PlotViewState state;
        state.plots = {
            {{widgets::Range{1.0, 9.0}, std::nullopt}, {widgets::Range{2.0, 4.5}, widgets::Scale::Log}}};
        b.cell("training")->setViews({{"training", state}});
        b.cell("growth")->setOptions({{"quantity", "var"}});
        b.cell("gradients")->setPanel("theta");
        b.window->appearance()->setDark(true);
        const auto before = tables(b);
        const std::string view = viewJson(*b.window);

        saveAndReopen(b, b.folder.filePath("kept.h5"));
        QTRY_COMPARE(b.window->views().grid->visibleCells().size(), 6u);
        const auto after = tables(b);
        QCOMPARE(after.size(), before.size());
        for (const auto& [panel, text] : before) {
            QVERIFY2(text.count('\n') > 1, panel.c_str());
            QVERIFY2(after.at(panel) == text, panel.c_str());
        }
        QCOMPARE(QString::fromStdString(viewJson(*b.window)), QString::fromStdString(view));
        QCOMPARE(b.lab().view().step(), qint64(5));
        QCOMPARE(b.window->views().stack->selectedLayer(), 1);
        QVERIFY(b.window->appearance()->isDark());
        b.window->appearance()->setDark(false);
        QVERIFY(!b.lab().comparison().runs[0].checkpoints.empty());
    }

    /// Every scheme is chosen by its knob, trained, saved, reopened and exported; the recording is restored
    /// completely.
    void aWindowOfALargerScreenFitsThisOne() {
        WindowBench b;
        nlohmann::json view = nlohmann::json::parse(viewJson(*b.window));
        view["size"] = {20000, 20000};
        applyViewJson(*b.window, view.dump(), true);
        QCOMPARE(b.window->size(), b.window->screen()->availableSize());
    }

    void everyScheme_data() {
        QTest::addColumn<QString>("scheme");
        for (const char* scheme : words_of<Scheme>()) QTest::newRow(scheme) << scheme;
    }
    void everyScheme() {
        QFETCH(QString, scheme);
        WindowBench b;
        b.makeSmall(200);
        chooseScheme(b, scheme);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QVERIFY(b.run(0).outcome.state == RunState::Finished || b.run(0).outcome.state == RunState::Stalled);
        QCOMPARE(b.run(0).steps.rows(), 200u);
        const auto before = tables(b);
        const auto recorded = series(b.run(0));
        saveAndReopen(b, b.folder.filePath("kept.h5"));
        QCOMPARE(QLatin1String(word_of(b.run(0).recipe.value("test").stack.scheme)), scheme);
        QVERIFY(sameBits(series(b.run(0)), recorded));
        const auto after = tables(b);
        QCOMPARE(after.size(), before.size());
        for (const auto& [panel, text] : before) {
            QVERIFY2(text.count('\n') > 1, panel.c_str());
            QVERIFY2(after.at(panel) == text, panel.c_str());
        }
        for (const widgets::PanelCell* cell : b.window->views().grid->visibleCells()) {
            const QString path = b.folder.filePath(QString::fromStdString(cell->panel()) + ".svg");
            const widgets::Figure& figure = *cell->plot()->figure();
            const qsizetype axes = paths(figure, true, path);
            QVERIFY2(axes >= 0 && paths(figure, false, path) >= axes + 2,
                     cell->panel().c_str());  // both runs
        }
    }

    void anUntrainedComparisonWithAPreviewComesBackToo() {
        WindowBench b;
        b.makeSmall(5);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        b.lab().knobs().commitKey("stack.depth", 4);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().runs[1].preview && b.lab().view().exact(), 20000);
        const auto before = tables(b);
        QVERIFY(before.at("growth").contains("preview"));
        saveAndReopen(b, b.folder.filePath("preview.h5"));
        QVERIFY(b.lab().comparison().changesPending());
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().runs[1].preview && b.lab().view().exact(), 20000);
        QTRY_COMPARE(tables(b), before);
    }

    void aSessionCanBeTrainedOn() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        saveAndReopen(b, b.folder.filePath("untrained.h5"));
        QVERIFY(b.lab().comparison().exploring());
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        QCOMPARE(b.run(0).steps.rows(), 4u);
    }

    void aFileThatIsNoSessionIsReportedInOneLineAndNothingChanges() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const QString path = b.folder.filePath("letter.h5");
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("Dear session,\n");
        file.close();
        b.window->files()->openSession(path);
        QTRY_VERIFY(b.window->views().banner->message().contains("letter.h5"));
        QVERIFY(!b.window->views().banner->message().contains('\n'));
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
    }

    void aFileThatCrashesTheLibraryIsReportedInOneLineAndNothingChanges() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        guard_foreign_files(NORMSCOPE_WALK);
        b.window->files()->openSession(
            QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/session/crashing/event-list.h5"));
        QTRY_VERIFY(b.window->views().banner->message().contains(
            "event-list.h5: damaged so that it makes the HDF5 library"));
        QVERIFY(!b.window->views().banner->message().contains('\n'));
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
        guard_foreign_files("");
    }

    /// A recipe key of a later version; its runs have the ids of those on screen, its view has other knobs.
    void aSessionThatDoesNotOpenChangesNothing() {
        WindowBench b;
        b.makeSmall(20);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const QString own = b.folder.filePath("own.h5"), later = b.folder.filePath("later.h5");
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(own);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        const int depth = b.lab().comparison().runs[0].recipe.stack.depth;
        std::vector<RunData> runs;
        for (const int i : {0, 1}) {
            runs.push_back(b.run(i));
            std::string text = runs.back().recipe.text();
            runs.back().recipe = RunRecipe::read(text.insert(text.find('{') + 1, "\"later\":1,"));
        }
        b.lab().knobs().commitKey("stack.depth", depth + 1);
        save_session(later.toStdString(), runs, viewJson(*b.window));
        b.lab().runs().undoStack()->undo();
        b.window->files()->openSession(later);
        QTRY_VERIFY(b.window->views().banner->message().contains("later"));
        QTest::qWait(100);
        QCOMPARE(b.lab().session().path(), own);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.depth, depth);
        b.window->files()->save();
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 2, 20000);
        QCOMPARE(saved[1][0].toString(), own);
        for (const RunData& run : open_session(own.toStdString()).runs)
            QCOMPARE(run.steps.rows(), std::size_t{20});
    }

    void aSaveOfTheSessionBeforeDoesNotNameTheNewOne() {
        WindowBench b;
        b.makeSmall(4);
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(b.folder.filePath("before.h5"));
        b.lab().session().startOver();
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        QCOMPARE(b.lab().session().path(), QString());
        QVERIFY(b.window->windowTitle().startsWith("untitled"));
    }

    void anInterruptedRunIsOfferedAndResumed() {
        WindowBench b;
        b.makeSmall(100000);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(1).steps.rows() > 5, 20000);
        b.window.reset();  // closed in the middle
        b.open();
        b.window->lab()->recordings().findInterrupted();
        QTRY_VERIFY(b.window->views().banner->message().contains("Post-LN at step"));
        for (auto* button : b.window->views().banner->findChildren<QAbstractButton*>())
            if (button->text() == "Resume") QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().anyTraining(), 20000);
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > rows + 3, 20000);
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
    }
};

NORMSCOPE_WIDGET_TEST(SessionWindowTest)
#include "session_window_test.moc"
