// SPDX-License-Identifier: GPL-3.0-or-later
// The map of a sweep in the real window: opened, clicked, marked, trained live.
#include "app/window/commands.h"
#include "app/window/studies/sweep_controller.h"
#include "core/backend/devices/devices.h"
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_shard.h"
#include "small_recipe.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/runs/run_strip.h"
#include "widgets/sweep/sweep_band.h"
#include "widgets/sweep/sweep_detail.h"
#include "widgets/sweep/sweep_dialog.h"
#include "widgets/sweep/sweep_view.h"
#include "window_bench.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <set>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

SweepSpec smallSweep(int steps = 6) {
    SweepSpec spec;
    spec.recipe = recipe_json(test::smallRecipe(Scheme::Pre, steps));
    spec.grid = {{"stack.scheme", {"pre", "post"}}, {"optimizer.lr", {"0.001", "0.01"}}};
    spec.seeds = {42, 43};
    return spec;
}

/// Trained by the core alone.
void train(const SweepSpec& spec, const QString& folder, const SweepShard& shard = {}) {
    SweepOptions options;
    options.shard = shard;
    options.folder = folder.toStdString();
    options.threads = 1;
    SweepWatcher watcher;
    run_sweep(spec, device_named("cpu"), options, watcher);
}

const QString& trainedOnce() {
    static QTemporaryDir folder;
    static const QString path = [] {
        const QString sweep = folder.filePath("sweep");
        train(smallSweep(), sweep);
        return sweep;
    }();
    return path;
}

/// A copy that a test may change.
QString copyOf(const WindowBench& b) {
    const QDir from(trainedOnce());
    const QString to = b.folder.filePath("copy");
    QDir().mkpath(to + "/runs");
    for (const QString& name : {QString("sweep.json"), QString("results.csv")})
        QFile::copy(from.filePath(name), to + '/' + name);
    for (const QString& name : QDir(from.filePath("runs")).entryList(QDir::Files))
        QFile::copy(from.filePath("runs/" + name), to + "/runs/" + name);
    return to;
}

void openMap(WindowBench& b, const QString& folder) {
    b.window->sweeps()->open(folder);
    QTRY_VERIFY_WITH_TIMEOUT(b.window->sweeps()->shown(), 20000);
}

QPoint cellAt(const widgets::PlotView& plot, int row_from_below, int column) {
    const widgets::PlotLayout& layout = plot.figureLayout().plots.at(0);
    return QPointF(layout.x.toPixel(column + 0.5), layout.y.toPixel(row_from_below + 0.5)).toPoint();
}

void drag(widgets::PlotView* plot, const QPoint& from, const QPoint& to) {
    QTest::mousePress(plot->viewport(), Qt::LeftButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, QPointF(to), plot->viewport()->mapToGlobal(QPointF(to)), Qt::NoButton,
                     Qt::LeftButton, {});
    QCoreApplication::sendEvent(plot->viewport(), &move);
    QTest::mouseRelease(plot->viewport(), Qt::LeftButton, {}, to);
}

}  // namespace

class SweepWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theMapShowsTheTableAndLeavesTheFrameInPlace() {
        WindowBench b;
        const QRect frame(b.window->views().grid->mapTo(b.window.get(), QPoint()),
                          b.window->views().grid->size());
        openMap(b, trainedOnce());
        SweepView& view = *b.window->sweeps()->map();
        QCOMPARE(QRect(view.mapTo(b.window.get(), QPoint()), view.size()), frame);
        QVERIFY(b.find<SweepBand>("sweepBand")->isVisible());
        const SweepResults results = read_sweep(trainedOnce().toStdString());
        QCOMPARE(results.rows.size(), std::size_t(8));
        const widgets::HeatMap& map = view.map()->figure()->plots.at(0).maps.at(0);
        const auto cells = sweep_cells(results, {0, 1});
        const auto best = best_values(results, 1);
        for (std::size_t row = 0; row < 2; ++row)
            for (std::size_t column = 0; column < 2; ++column) {
                const std::size_t i = (1 - row) * 2 + column;
                QCOMPARE(map.raw.at(i), *cells[row * 2 + column].median_loss);
                QCOMPARE(map.runs.at(i).best, best.at(row).value == column);
            }
        QVERIFY2(b.find<SweepBand>("sweepBand")->texts().front().startsWith("8 of 8 runs"),
                 qPrintable(b.find<SweepBand>("sweepBand")->texts().join('|')));
        auto* colour = b.find<QComboBox>("sweepColour");
        colour->setCurrentIndex(colour->findData(static_cast<int>(widgets::SweepValue::Steps)));
        QCOMPARE(view.map()->figure()->plots.at(0).maps.at(0).raw.at(0), 6.0);
        b.keepScreenshot("sweep");
        QTest::keyClick(view.map(), Qt::Key_Escape);
        QVERIFY(!b.window->sweeps()->shown() && b.window->views().grid->isVisible());
        QCOMPARE(
            QRect(b.window->views().grid->mapTo(b.window.get(), QPoint()), b.window->views().grid->size()),
            frame);
    }

    void aClickOpensTheRunsOfTheCell() {
        WindowBench b;
        openMap(b, trainedOnce());
        SweepView& view = *b.window->sweeps()->map();
        const auto before = b.lab().comparison().runs.size();
        QTest::mouseClick(view.map()->viewport(), Qt::LeftButton, {}, cellAt(*view.map(), 0, 1));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 2, 20000);
        const SweepResults results = read_sweep(trainedOnce().toStdString());
        for (std::size_t i = 0; i < 2; ++i) {
            const LabRun& run = b.lab().comparison().runs[before + i];
            const SweepRun& wanted = results.runs[6 + i];  // post, 0.01
            QCOMPARE(run.recipe.stack.scheme, Scheme::Post);
            QCOMPARE(run.recipe.train.optimizer.lr, 0.01);
            QCOMPARE(run.recipe.train.seed, wanted.seed);
            QCOMPARE(run.data->steps.rows(), std::size_t(6));
            QCOMPARE(run.data->name, wanted.name);
        }
        QCOMPARE(b.lab().comparison().selected, static_cast<int>(before) + 1);
        QTRY_VERIFY(view.detail()->loss()->figure()->plots.size() == 1);
        QVERIFY2(view.detail()->text().startsWith("Post-LN · learning rate 10⁻²"),
                 qPrintable(view.detail()->text()));
        QCOMPARE(view.map()->figure()->plots[0].maps[0].selected_column, 1);
        b.keepScreenshot("sweep-cell");
        // The same cell again: its runs are there already.
        QTest::mouseClick(view.map()->viewport(), Qt::LeftButton, {}, cellAt(*view.map(), 0, 1));
        QTest::qWait(300);  // in which nothing may be added
        QCOMPARE(b.lab().comparison().runs.size(), before + 2);
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().comparison().runs.size(), before);
        QTest::mouseClick(b.find<QPushButton>("sweepOpenBest"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 4, 20000);
        QVERIFY(!b.window->sweeps()->shown());
    }

    void aRectangleOpensAGroupAndTheKeysDoToo() {
        WindowBench b;
        openMap(b, trainedOnce());
        SweepView& view = *b.window->sweeps()->map();
        const auto before = b.lab().comparison().runs.size();
        drag(view.map(), cellAt(*view.map(), 1, 0), cellAt(*view.map(), 0, 0));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 4, 20000);
        for (std::size_t i = before; i < b.lab().comparison().runs.size(); ++i)
            QCOMPARE(b.lab().comparison().runs[i].recipe.train.optimizer.lr, 0.001);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        // The plots next to the map: a median and its range for each scheme, in the hue of its chip.
        const auto& groups = b.lab().view().groups();
        QCOMPARE(groups.groups.size(), before + 2);
        std::set<int> hues;
        QTRY_COMPARE(view.detail()->loss()->figure()->plots.size(), std::size_t(1));
        QTRY_VERIFY(!view.detail()->loss()->figure()->plots[0].bands.empty());
        for (const widgets::Curve& curve : view.detail()->loss()->figure()->plots[0].curves)
            hues.insert(curve.role.run);
        std::set<int> chips;
        for (std::size_t i = before; i < b.lab().comparison().runs.size(); ++i)
            chips.insert(static_cast<int>(groups.groupOf(i)));
        QCOMPARE(hues, chips);
        QVERIFY(view.map()->hasFocus());
        for (const int key : {Qt::Key_Right, Qt::Key_Up}) QTest::keyClick(view.map(), Qt::Key(key));
        QTest::keyClick(view.map(), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 6, 20000);
    }

    /// More runs than can be read are not added; one line states it.
    void tooManyRunsAreCapped() {
        WindowBench b;
        const QString folder = b.folder.filePath("many");
        SweepSpec spec = smallSweep(1);
        spec.seeds.clear();
        for (std::uint64_t seed = 1; seed <= 7; ++seed) spec.seeds.push_back(seed);
        train(spec, folder);
        openMap(b, folder);
        SweepView& view = *b.window->sweeps()->map();
        const auto before = b.lab().comparison().runs.size();
        drag(view.map(), cellAt(*view.map(), 1, 0), cellAt(*view.map(), 0, 1));
        QVERIFY2(b.window->views().banner->message().startsWith("24 of 28 runs are added"),
                 qPrintable(b.window->views().banner->message()));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 24, 30000);
    }

    /// A run that waits to be trained with a recipe of the sweep becomes the recorded one: no seed is there
    /// twice.
    void aWaitingRunIsReplacedByItsRecording() {
        WindowBench b;
        openMap(b, trainedOnce());
        SweepView& view = *b.window->sweeps()->map();
        view.open({0, 1, 0, 1});  // two seeds
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(4), 20000);
        const Recipe recorded = b.lab().comparison().runs[2].recipe;
        b.lab().runs().undoStack()->undo();
        b.lab().runs().add(recorded);  // to be trained
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(3));
        QVERIFY(!b.lab().comparison().runs[2].trained());
        view.open({0, 1, 0, 1});
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(4), 20000);
        for (const std::size_t i : {2, 3}) QVERIFY(b.lab().comparison().runs[i].trained());
        QVERIFY(b.lab().comparison().runs[2].recipe.train.seed !=
                b.lab().comparison().runs[3].recipe.train.seed);
        QCOMPARE(b.lab().comparison().selected, 3);
        b.lab().runs().undoStack()->undo();
        QVERIFY(b.lab().comparison().runs.size() == 3 && !b.lab().comparison().runs[2].trained());
    }

    /// Any scalar of the probes, read from the recordings: the map has what they hold.
    void aScalarOfTheProbesIsRead() {
        WindowBench b;
        openMap(b, copyOf(b));
        SweepView& view = *b.find<SweepView>("sweepView");
        const SweepScalar scalar{"growth", "rms", SweepScalar::Over::Largest};
        view.setScalar(scalar);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().sweeps().sweep()->scalars.size(), std::size_t(8), 20000);
        const ShownSweep& sweep = *b.lab().sweeps().sweep();
        for (const SweepRow& row : sweep.results.rows) {
            const Session session = open_session(sweep.folder.toStdString() + '/' + row.recording);
            QCOMPARE(std::optional(sweep.scalars.at(row.run)), scalar_of(session.runs.front(), scalar));
        }
        QTRY_VERIFY(view.map()->figure()->title.contains("growth: rms, largest"));
        QTRY_VERIFY(std::isfinite(view.map()->figure()->plots[0].maps[0].raw[0]));
        // By keyboard: the entry asks which one; dismissed, the map stays.
        auto* box = b.find<QComboBox>("sweepColour");
        QVERIFY(box->currentText().contains("growth: rms, largest"));
        view.setValue(widgets::SweepValue::FinalLoss);
        const int entry = box->findData(static_cast<int>(widgets::SweepValue::Scalar));
        box->setCurrentIndex(entry);
        Q_EMIT box->activated(entry);
        auto* menu = b.find<QMenu>("scalarMenu");
        QVERIFY(menu && menu->isVisible() && menu->actions().size() > 4);
        QTest::keyClick(menu, Qt::Key_Escape);
        QTRY_VERIFY(!b.find<QMenu>("scalarMenu"));
        QCOMPARE(view.value(), widgets::SweepValue::FinalLoss);
        QCOMPARE(static_cast<widgets::SweepValue>(box->currentData().toInt()),
                 widgets::SweepValue::FinalLoss);
        // A recording that cannot be read is one line, and the others have their values.
        QFile damaged(
            QString::fromStdString(sweep.folder.toStdString() + '/' + sweep.results.rows[0].recording));
        QVERIFY(damaged.open(QIODevice::WriteOnly));
        damaged.write("no session");
        damaged.close();
        QSignalSpy problems(&b.lab().sweeps(), &SweepRunner::problem);
        view.setScalar(scalar);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().sweeps().sweep()->scalars.size(), std::size_t(7), 20000);
        QCOMPARE(problems.count(), 1);
    }

    void missingAndDamagedFilesAreOneLineAndTheRestIsShown() {
        WindowBench b;
        const QString folder = copyOf(b);
        const SweepResults results = read_sweep(folder.toStdString());
        QVERIFY(QFile::remove(folder + '/' + QString::fromStdString(results.runs[6].recording)));
        openMap(b, folder);
        QTRY_VERIFY2(b.window->views().banner->message().contains("007_") &&
                         b.window->views().banner->message().endsWith("Dismiss") == false &&
                         b.window->views().banner->message().contains("is missing; its row is shown"),
                     qPrintable(b.window->views().banner->message()));
        SweepView& view = *b.window->sweeps()->map();
        QCOMPARE(view.map()->figure()->plots[0].maps[0].runs[1].states.size(), std::size_t(2));
        const auto before = b.lab().comparison().runs.size();
        QTest::mouseClick(view.map()->viewport(), Qt::LeftButton, {}, cellAt(*view.map(), 0, 1));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 1, 20000);
        QVERIFY2(b.window->views().banner->message().contains("1 of 2 recordings are not in the folder"),
                 qPrintable(b.window->views().banner->message()));

        // results.csv of another sweep: the grid is shown without rows.
        QFile csv(folder + "/results.csv");
        QVERIFY(csv.open(QIODevice::WriteOnly));
        csv.write("optimizer.lr,seed,state\n");
        csv.close();
        b.window->sweeps()->open(folder);
        QTRY_VERIFY2(b.window->views().banner->message().contains("results.csv: damaged"),
                     qPrintable(b.window->views().banner->message()));
        QVERIFY(b.lab().sweeps().sweep()->results.rows.empty());
        QCOMPARE(view.map()->figure()->plots[0].maps[0].rows, 2);

        // No sweep at all: one line, what is shown stays.
        b.window->sweeps()->open(b.folder.path());
        QTRY_VERIFY2(b.window->views().banner->message().contains("sweep.json"),
                     qPrintable(b.window->views().banner->message()));
        QCOMPARE(b.lab().sweeps().sweep()->folder, folder);
    }

    /// From the dialog: 2 × 2 fill the map while they are trained, with the rows that the core gives.
    /// The shards of a sweep, while other processes fill them: the map opens with what is there, rows and
    /// shards that come later arrive, a click opens a recording of a shard, and a closed sweep stays closed.
    void aFolderThatOthersFillIsFollowed() {
        WindowBench b;
        const QString out = b.folder.filePath("shared");
        const auto shard = [&](std::size_t index) {
            const SweepShard one{index, 2};
            train(smallSweep(), QString::fromStdString(shard_folder(out.toStdString(), one)), one);
        };
        shard(1);
        openMap(b, out);
        const auto& shown = b.lab().sweeps().sweep();
        QCOMPARE(shown->results.rows.size(), std::size_t(4));
        QVERIFY(shown->missing.empty());
        shard(2);
        QTRY_COMPARE_WITH_TIMEOUT(shown->results.rows.size(), std::size_t(8), 20000);
        QCOMPARE(shown->count.ended, std::size_t(8));
        QVERIFY(shown->missing.empty());
        const SweepResults whole = read_sweep(trainedOnce().toStdString());
        for (std::size_t i = 0; i < whole.rows.size(); ++i) {
            QCOMPARE(shown->results.rows[i].final_loss, whole.rows[i].final_loss);
            QVERIFY(QFile::exists(out + '/' + QString::fromStdString(shown->results.rows[i].recording)));
        }
        const auto runs = b.lab().comparison().runs.size();
        QTest::mouseClick(b.window->sweeps()->map()->map()->viewport(), Qt::LeftButton, {},
                          cellAt(*b.window->sweeps()->map()->map(), 0, 1));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), runs + 2, 20000);
    }

    /// A reading that arrives after the sweep was closed, or after another one was opened, changes nothing.
    void aLateReadingIsDropped() {
        WindowBench b;
        const QString out = b.folder.filePath("late");
        const SweepShard first{1, 2}, second{2, 2};
        train(smallSweep(), out, first);
        SweepRunner& sweeps = b.lab().sweeps();
        openMap(b, out);
        train(smallSweep(), out, second);
        QSignalSpy changed(&sweeps, &SweepRunner::changed);
        sweeps.close();
        QTest::qWait(2 * SweepRunner::kFollowInterval);
        QVERIFY(!sweeps.sweep());
        QCOMPARE(changed.size(), 0);
        openMap(b, trainedOnce());
        QTest::qWait(2 * SweepRunner::kFollowInterval);
        QCOMPARE(sweeps.sweep()->folder, trainedOnce());
    }

    void aNewSweepFillsTheMapLive() {
        WindowBench b;
        b.makeSmall(6);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.window->sweeps()->create();
        auto* dialog = b.find<SweepDialog>("sweepDialog");
        QVERIFY(dialog && dialog->isVisible());
        // As long as so many runs of the selected one, whose steps were measured.
        static const QRegularExpression kSize("^72 runs of 6 steps, about (\\d+) s on this machine$");
        const auto size = kSize.match(b.find<QLabel>("sweepCount")->text());
        QVERIFY2(size.hasMatch(), qPrintable(b.find<QLabel>("sweepCount")->text()));
        const double seconds = 72 * b.lab().view().trainingSeconds(b.lab().comparison().runs[0].recipe);
        QCOMPARE(size.captured(1).toDouble(), std::max(1.0, std::round(seconds)));
        auto* values = b.find<QLineEdit>("sweepValues1");
        auto* start = b.find<QPushButton>("sweepStart");
        values->setText("log:1e-3:0:2");
        QVERIFY(!start->isEnabled());
        QVERIFY2(b.find<QLabel>("sweepProblem1")->text().contains("not positive"),
                 qPrintable(b.find<QLabel>("sweepProblem1")->text()));
        values->setText("1e-3,1e-2");
        b.find<QLineEdit>("sweepValues0")->setText("pre,prae");
        QVERIFY2(b.find<QLabel>("sweepProblem0")->text().contains("prae"),
                 qPrintable(b.find<QLabel>("sweepProblem0")->text()));
        QVERIFY(!start->isEnabled());
        b.find<QLineEdit>("sweepValues0")->setText("pre,post");
        b.find<QLineEdit>("sweepSeeds")->setText("43:42");
        QVERIFY(!b.find<QLabel>("sweepSeedsProblem")->text().isEmpty() && !start->isEnabled());
        b.find<QLineEdit>("sweepSeeds")->setText("42");
        QVERIFY(b.find<QLabel>("sweepCount")->text().startsWith("4 runs of 6 steps, about 1 s"));
        dialog->setVaried("stack.depth", "1,2");  // a run of another depth takes another time
        QCOMPARE(b.find<QLabel>("sweepCount")->text(), QString("2 runs of 6 steps"));
        dialog->setVaried("steps", "4,5");
        QCOMPARE(b.find<QLabel>("sweepCount")->text(), QString("2 runs"));
        dialog->setVaried("stack.scheme", "pre,post");
        auto* key = b.find<QComboBox>("sweepKey1");
        key->setCurrentIndex(key->findData("optimizer.lr"));
        values->setText("1e-3,1e-2");
        b.keepScreenshot("sweep-dialog", dialog);
        const QString folder = b.find<QLineEdit>("sweepFolder")->text();
        QVERIFY2(folder.startsWith(b.folder.filePath("recordings/sweeps")), qPrintable(folder));
        std::vector<std::size_t> filled;
        connect(&b.lab().sweeps(), &SweepRunner::changed, this, [&] {
            filled.push_back(b.lab().sweeps().sweep() ? b.lab().sweeps().sweep()->results.rows.size() : 0);
        });
        QTest::mouseClick(start, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(b.window->sweeps()->shown(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().sweeps().running(), 60000);
        b.lab().sweeps().disconnect(this);
        for (std::size_t rows = 1; rows <= 4; ++rows)  // one by one
            QVERIFY(std::find(filled.begin(), filled.end(), rows) != filled.end());
        const SweepResults written = read_sweep(folder.toStdString());
        QCOMPARE(written.rows.size(), std::size_t(4));
        const auto text = [](const SweepResults& results) {
            return results_csv(results.spec, results.runs, results.rows, true);
        };
        QCOMPARE(text(b.lab().sweeps().sweep()->results), text(written));
        SweepView& view = *b.window->sweeps()->map();
        const auto cells = sweep_cells(written, {0, 1});
        QTRY_COMPARE(view.map()->figure()->plots[0].maps[0].raw[3], *cells[1].median_loss);
        // The same as alone: an exact repetition by the core.
        const QString alone = b.folder.filePath("alone");
        train(written.spec, alone);
        SweepResults again = read_sweep(alone.toStdString());
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(again.rows[i].final_loss, written.rows[i].final_loss);
        QTest::mouseClick(view.map()->viewport(), Qt::LeftButton, {}, cellAt(*view.map(), 1, 0));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
    }

    /// Stopped and resumed, and stopped by closing the window: the rows are those of an uninterrupted sweep.
    void aSweepIsStoppedAndResumed() {
        WindowBench b;
        SweepSpec spec = smallSweep(400);
        spec.seeds = {42};
        const QString folder = b.folder.filePath("stopped");
        b.lab().sweeps().start(spec, folder, "cpu", 1);
        QTRY_VERIFY_WITH_TIMEOUT(
            b.lab().sweeps().sweep() && b.lab().sweeps().sweep()->results.rows.size() == 1, 60000);
        auto* action = b.find<QPushButton>("sweepAction");
        QTRY_VERIFY(action->isVisible() && action->text() == "Stop the sweep");
        QElapsedTimer clock;
        clock.start();
        QTest::mouseClick(action, Qt::LeftButton);
        QVERIFY(clock.elapsed() < 500);  // the interface does not wait
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().sweeps().running(), 20000);
        QVERIFY(b.lab().sweeps().sweep()->results.rows.size() < 4);
        QTRY_COMPARE(action->text(), QString("Resume the sweep"));
        QTest::mouseClick(action, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().sweeps().sweep()->training.empty(), 20000);
        b.window.reset();  // in the middle of it
        const auto rows = read_sweep(folder.toStdString()).rows.size();
        QVERIFY(rows < 4);
        b.open();
        openMap(b, folder);
        QTRY_VERIFY_WITH_TIMEOUT(b.find<QPushButton>("sweepAction")->isEnabled(), 5000);
        QTest::mouseClick(b.find<QPushButton>("sweepAction"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(
            !b.lab().sweeps().running() && b.lab().sweeps().sweep()->results.rows.size() == 4, 120000);
        const QString alone = b.folder.filePath("alone");
        train(spec, alone);
        const SweepResults whole = read_sweep(alone.toStdString());
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(b.lab().sweeps().sweep()->results.rows[i].final_loss, whole.rows[i].final_loss);
            QCOMPARE(b.lab().sweeps().sweep()->results.rows[i].state, whole.rows[i].state);
        }
    }

    /// A folder of another sweep is rejected in one line, and nothing is trained.
    void theFolderOfAnotherSweepIsRejected() {
        WindowBench b;
        b.makeSmall(6);
        b.window->sweeps()->create();
        const QString folder = copyOf(b);
        b.find<QLineEdit>("sweepValues0")->setText("pre,post");
        b.find<QLineEdit>("sweepValues1")->setText("1e-3,1e-2");
        auto* field = b.find<QLineEdit>("sweepFolder");
        field->setText(folder);
        Q_EMIT field->textEdited(folder);
        QTest::mouseClick(b.find<QPushButton>("sweepStart"), Qt::LeftButton);
        auto* problem = b.find<QLabel>("sweepFolderProblem");
        QTRY_VERIFY_WITH_TIMEOUT(!problem->text().isEmpty(), 20000);
        QVERIFY2(problem->text().contains("another sweep"), qPrintable(problem->text()));
        QVERIFY(b.find<SweepDialog>("sweepDialog")->isVisible() && !b.lab().sweeps().sweep());
        QVERIFY(b.find<QPushButton>("sweepStart")->isEnabled());
    }

    /// Before any sweep: a sentence, not an empty area; found by its commands.
    void withoutASweepASentenceIsShown() {
        WindowBench b;
        b.window->commands()[Command::ShowSweep]->trigger();
        QVERIFY(b.window->sweeps()->shown());
        QVERIFY(b.window->sweeps()->map()->map()->figure()->empty_text.contains("No sweep is open"));
        QVERIFY(!b.find<SweepBand>("sweepBand")->isVisible());
        const QMenu* menu = b.window->views().strip->sweepMenu();
        for (const Command command : {Command::ChooseSweep, Command::NewSweep})
            QVERIFY(menu->actions().contains(b.window->commands()[command]));
        QTest::keyClick(b.window->sweeps()->map()->map(), Qt::Key_Escape);
        QVERIFY(!b.window->sweeps()->shown());
    }
};

NORMSCOPE_WIDGET_TEST(SweepWindowTest)
#include "sweep_window_test.moc"
