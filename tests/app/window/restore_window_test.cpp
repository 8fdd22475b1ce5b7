// SPDX-License-Identifier: GPL-3.0-or-later
// A window that is closed, or whose process is killed, and started again shows the same screen.
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/runs/story_controller.h"
#include "app/window/runs/training_controller.h"
#include "app/window/state_controller.h"
#include "app/window/window_view.h"
#include "core/recipe/presets.h"
#include "tests/support/test_main.h"
#include "widgets/common/banner.h"
#include "widgets/common/settings.h"
#include "widgets/findings/findings_band.h"
#include "widgets/findings/remedy_box.h"
#include "widgets/findings/remedy_table.h"
#include "widgets/story/story_strip.h"
#include "window_bench.h"

#include <nlohmann/json.hpp>
#include <signal.h>

#include <QFile>
#include <QMessageBox>
#include <QProcess>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

/// What is compared before and after: the view with all recipes, and the runs with their rows.
struct Screen {
    nlohmann::json view;
    std::vector<std::string> ids, names;
    std::vector<std::vector<double>> losses;
    std::vector<RunState> states;
    bool operator==(const Screen&) const = default;
};

Screen screenOf(const MainWindow& window) {
    Screen s{nlohmann::json::parse(viewJson(window)), {}, {}, {}, {}};
    for (const LabRun& run : window.lab()->comparison().runs) {
        s.ids.push_back(run.id);
        s.names.push_back(run.data->name);
        const auto* losses = run.data->steps.find("loss");
        s.losses.push_back(losses ? *losses : std::vector<double>());
        s.states.push_back(run.data->outcome.state);
    }
    return s;
}

#define COMPARE_SCREENS(a, b)                         \
    do {                                              \
        QCOMPARE((b).view.dump(1), (a).view.dump(1)); \
        QVERIFY((b).ids == (a).ids);                  \
        QVERIFY((b).names == (a).names);              \
        QVERIFY((b).losses == (a).losses);            \
        QVERIFY((b).states == (a).states);            \
    } while (false)

/// The next window, after what the last one kept is restored.
void startAgain(WindowBench& b, bool close = true) {
    if (close) b.window->close();
    b.window.reset();
    b.open();
    QSignalSpy restored(&b.lab().session(), &LabSession::restored);
    b.window->state()->start(false);
    QTRY_COMPARE_WITH_TIMEOUT(restored.count(), 1, 20000);
}

const char* const kDamaged[] = {
    "{\"version\": 1, \"vi",
    "{}",
    "{\"version\": 99}",
    "{\"version\": 1, \"view\": \"{\\\"knobs\\\": 3}\", \"runs\": [{\"id\": \"a\", \"name\": \"b\"}]}",
};

QString stateFile(const WindowBench& b, int n = 1) {
    return b.folder.filePath(QString("state/window-%1.json").arg(n));
}

void train(WindowBench& b, int steps) {
    b.makeSmall(steps);
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
}

}  // namespace

class RestoreWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Every run of a training that the end of the window stopped.
    void theMainButtonResumesWhatTheEndOfTheWindowStopped() {
        WindowBench b;
        b.window->state()->start(false);
        b.makeSmall(100000);
        b.lab().runs().addSeeds(2);
        b.lab().training().play();
        const auto trained = [&] {
            return std::all_of(
                b.lab().comparison().runs.begin(), b.lab().comparison().runs.end(),
                [](const LabRun& run) { return run.lastStep() > 3 && !run.recording.empty(); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().runs.size() == 6 && trained(), 20000);
        startAgain(b);
        const auto* button = b.find<QWidget>("transportBar")->findChild<QAbstractButton*>("playButton");
        QTRY_COMPARE(button->text(), QStringLiteral("Resume 6 runs"));
        std::vector<qint64> steps;
        for (const LabRun& run : b.lab().comparison().runs) steps.push_back(run.lastStep());
        QTest::mouseClick(const_cast<QAbstractButton*>(button), Qt::LeftButton);
        for (std::size_t i = 0; i < 6; ++i)
            QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().runs[i].isTraining() &&
                                         b.lab().comparison().runs[i].lastStep() > steps[i],
                                     20000);
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void theSameScreenAfterAnOrdinaryEnd() {
        WindowBench b;
        b.window->state()->start(false);
        train(b, 40);
        b.lab().runs().rename(0, "my run");
        b.lab().runs().select(0);
        b.lab().runs().pinSelected();                             // a reference: only in memory
        b.lab().runs().add(b.lab().comparison().runs[1].recipe);  // untrained
        b.lab().knobs().commitKey("stack.residual_step", 0.5);    // asks for new runs
        b.lab().view().setGroupSeeds(false);
        b.lab().runs().setLinked(false);
        b.window->views().grid->cells()[1]->setPanel("updates");
        b.window->views().grid->cells()[0]->setViews(
            {{b.window->views().grid->cells()[0]->panel(), {{{{}, {widgets::Range{1.0, 2.0}, {}}}}}}});
        b.window->appearance()->setDark(true);
        b.lab().view().setStep(17);
        b.lab().runs().select(2);
        b.lab().view().selectLayer(1);
        b.window->resize(1300, 860);
        QTRY_VERIFY(b.lab().view().exact());
        const Screen before = screenOf(*b.window);
        QVERIFY(b.window->isWindowModified() || b.lab().session().unsaved());
        b.keepScreenshot("restore-before");
        b.window->close();
        QVERIFY(!b.window->isVisible() && !b.find<QMessageBox>("leaving"));
        b.window.reset();
        QSettings().setValue("dark", false);
        b.open();
        QSignalSpy restored(&b.lab().session(), &LabSession::restored);
        b.window->state()->start(false);
        QTRY_COMPARE_WITH_TIMEOUT(restored.count(), 1, 20000);
        b.keepScreenshot("restore-after");
        const Screen after = screenOf(*b.window);
        COMPARE_SCREENS(before, after);
        QCOMPARE(before.losses[0].size(), std::size_t(40));
        QCOMPARE(before.losses[2].size(), std::size_t(40));
        QVERIFY(b.lab().session().unsaved() && b.lab().comparison().changesPending());
        // The untrained run is measured again.
        QTRY_VERIFY_WITH_TIMEOUT(b.run(3).probes.count("growth"), 20000);
    }

    /// Samples that no recording has: of a panel that the recipe does not measure, and by replay.
    void whatOnlyTheWindowMeasuredIsThereAgain() {
        WindowBench b;
        b.window->state()->start(false);
        train(b, 40);
        b.lab().view().setStep(13);
        QVERIFY2(b.lab().measurement().obstacle().isEmpty(), qPrintable(b.lab().measurement().obstacle()));
        b.lab().measurement().measureHere();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().measurement().running(), 20000);
        std::map<std::string, std::vector<std::int64_t>> before;
        for (const auto& [probe, samples] : b.run(0).probes)
            for (const auto& sample : samples) before[probe].push_back(sample.step);
        QVERIFY(!b.lab().comparison().runs[0].replayed.empty());
        startAgain(b);
        std::map<std::string, std::vector<std::int64_t>> after;
        for (const auto& [probe, samples] : b.run(0).probes)
            for (const auto& sample : samples) after[probe].push_back(sample.step);
        QVERIFY(after == before);
        startAgain(b);  // they are kept again
        QVERIFY(b.run(0).probes.at(b.lab().comparison().runs[0].replayed.begin()->first).size() ==
                before.at(b.lab().comparison().runs[0].replayed.begin()->first).size());
    }

    /// The runs of "Try all" are compared in its table again, though their remedies are drafted again.
    void theTableOfTriedRemedies() {
        WindowBench b;
        b.window->state()->start(false);
        b.lab().knobs().commitKey("optimizer.lr", 0.01);
        b.lab().knobs().commitKey("optimizer.clip", 1e-9);  // nothing learns
        train(b, 40);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().remedies().trials() && b.lab().remedies().trials()->done(), 60000);
        auto* action = b.find<QToolButton>("remedyAction");
        QTRY_VERIFY(action->isVisible());
        QTest::mouseClick(action, Qt::LeftButton);
        const auto box = [&] { return b.find<widgets::FindingsBand>("findingsBand")->remedies(); };
        QTRY_VERIFY(box()->showsTable());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        const auto rowsOf = [&] {
            std::vector<std::pair<QString, QString>> rows;
            for (const widgets::RemedyTable::Row& row : box()->table().rows())
                rows.emplace_back(row.name, row.loss);
            return rows;
        };
        const auto complete = [&] {  // the band follows within 200 ms
            const auto rows = rowsOf();
            return rows.size() >= 3 && std::none_of(rows.begin(), rows.end(),
                                                    [](const auto& row) { return row.second.isEmpty(); });
        };
        QTRY_VERIFY(complete());
        const auto before = rowsOf();
        startAgain(b);
        QTRY_VERIFY_WITH_TIMEOUT(box()->showsTable(), 20000);
        QTRY_COMPARE_WITH_TIMEOUT(rowsOf(), before, 20000);
    }

    void aTrainingIsInterruptedAndCanBeResumed() {
        WindowBench b;
        b.window->state()->start(false);
        b.makeSmall(3000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 20 && b.run(1).steps.rows() > 20, 20000);
        b.window->close();
        QVERIFY(!b.window->isVisible());
        startAgain(b, false);
        for (const int i : {0, 1}) {
            QCOMPARE(b.run(i).outcome.state, RunState::Interrupted);
            QVERIFY(b.lab().comparison().runs[std::size_t(i)].resumable());
        }
        const auto rows = b.run(0).steps.rows();
        QVERIFY(rows > 20);
        QVERIFY(!b.window->views().banner->message().contains("Interrupted"));  // they are on screen
        b.lab().runs().select(0);
        b.window->training()->resumeSelected();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > rows + 5, 30000);
        for (std::size_t row = 0; row < b.run(0).steps.rows(); ++row)
            QCOMPARE(b.run(0).steps.step[row], std::int64_t(row));
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
    }

    /// What a kill leaves: the state names the recordings soon after they began, without a closing.
    void theStateIsKeptWhileTraining() {
        WindowBench b;
        b.window->state()->start(false);
        b.makeSmall(100000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().comparison().runs[0].recording.empty() &&
                                     !b.lab().comparison().runs[1].recording.empty(),
                                 20000);
        const auto named = [&] {
            QFile file(stateFile(b));
            if (!file.open(QFile::ReadOnly)) return false;
            const QByteArray text = file.readAll();
            return text.contains(b.lab().comparison().runs[0].recording.c_str()) &&
                   text.contains(b.lab().comparison().runs[1].recording.c_str());
        };
        QTRY_VERIFY_WITH_TIMEOUT(named(), 10000);
        QVERIFY(b.lab().training().playing());
        b.lab().training().stop();
    }

    void theSessionsPathAndItsRuns() {
        WindowBench b;
        b.window->state()->start(false);
        train(b, 6);
        const QString path = b.folder.filePath("mine.h5");
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        b.window->files()->newComparison();
        QSignalSpy opened(&b.lab().session(), &LabSession::opened);
        b.window->files()->openSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        const Screen before = screenOf(*b.window);
        startAgain(b);
        COMPARE_SCREENS(before, screenOf(*b.window));
        QCOMPARE(b.lab().session().path(), path);
        QVERIFY(!b.window->isWindowModified() && b.window->windowTitle().startsWith("mine.h5"));
        QVERIFY(!b.lab().comparison().runs[0].checkpoints.empty());
    }

    void aStoryIsRestored() {
        WindowBench b;
        b.window->state()->start(false);
        b.window->stories()->tell(QLatin1String(stories().front().name));
        QTRY_VERIFY_WITH_TIMEOUT(b.window->views().story->held()[0], 20000);  // measured at step 0
        b.window->views().story->next();
        b.window->views().story->next();
        QVERIFY(!b.window->views().story->held()[1]);  // nothing was trained
        b.window->views().story->previous();
        const std::vector<bool> held = b.window->views().story->held();
        startAgain(b);
        QVERIFY(b.window->views().story->story() && b.window->views().story->isVisible());
        QCOMPARE(b.window->views().story->at(), std::size_t(1));
        QVERIFY(b.window->views().story->held() == held);
    }

    void aDeletedRecordingCostsItsRunAndOneLine() {
        WindowBench b;
        b.window->state()->start(false);
        train(b, 6);
        const QString gone = QString::fromStdString(b.lab().comparison().runs[0].recording);
        b.window->close();
        b.window.reset();
        QVERIFY(QFile::remove(gone));
        b.open();
        QSignalSpy problems(&b.lab(), &Lab::problem), restored(&b.lab().session(), &LabSession::restored);
        b.window->state()->start(false);
        QTRY_COMPARE_WITH_TIMEOUT(restored.count(), 1, 20000);
        QCOMPARE(problems.count(), 1);
        QVERIFY(problems[0][0].toString().contains("is not restored"));
        QVERIFY(!b.lab().comparison().runs[0].trained() && b.run(1).steps.rows() == 6);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.depth, 3);
    }

    void aDamagedStateIsOneLine_data() {
        QTest::addColumn<QByteArray>("text");
        for (const char* text : kDamaged) QTest::newRow(text) << QByteArray(text);
    }
    void aDamagedStateIsOneLine() {
        QFETCH(QByteArray, text);
        WindowBench b;
        QVERIFY(QDir(b.folder.path()).mkdir("state"));
        QFile file(stateFile(b));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(text);
        file.close();
        b.window->state()->start(false);
        QTRY_VERIFY(b.window->views().banner->message().contains("is damaged"));
        QVERIFY(!b.window->views().banner->message().contains('\n'));
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        startAgain(b);  // it is kept again
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
    }

    void twoWindowsKeepTheirOwn() {
        WindowBench b;
        b.window->state()->start(false);
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        MainWindow other(b.folder.filePath("recordings"), 1);
        other.show();
        other.state()->start(false);  // the first one's is its own
        QCOMPARE(other.lab()->comparison().runs[0].recipe.stack.residual_step, 1.0);
        other.lab()->knobs().commitKey("stack.residual_step", 0.25);
        b.window->close();
        QTest::qWait(20);  // the files' times differ then
        other.close();
        QVERIFY(QFile::exists(stateFile(b, 1)) && QFile::exists(stateFile(b, 2)));
        startAgain(b, false);  // the other still has its file
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
    }

    void newOrTheSettingStartAfresh() {
        WindowBench b;
        b.window->state()->start(false);
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        b.window->close();
        b.window.reset();
        b.open();
        b.window->state()->start(true);
        QTest::qWait(100);  // in which nothing may be restored
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 1.0);
        b.window->state()->toggleRestoring();
        QVERIFY(!widgets::Settings().restores());
        b.lab().knobs().commitKey("stack.residual_step", 0.25);
        b.window->close();  // nothing would be restored: it asks
        QTRY_VERIFY(b.find<QMessageBox>("leaving"));
        b.window.reset();
        b.open();
        b.window->state()->start(false);
        QTest::qWait(100);  // in which nothing may be restored
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 1.0);
    }

    /// The program as a process, killed in the middle.
    void afterKillTheSameScreen() {
        WindowBench b;
        b.window->state()->start(false);
        train(b, 6);
        b.lab().runs().select(1);
        b.lab().view().setStep(3);
        b.window->views().grid->cells()[2]->setPanel("updates");
        const Screen before = screenOf(*b.window);
        b.window->close();
        b.window.reset();
        QFile(stateFile(b)).copy(b.folder.filePath("before.json"));
        QProcess program;
        QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
        env.insert("QT_QPA_PLATFORM", "offscreen");
        env.insert("XDG_DATA_HOME", b.folder.filePath("data"));
        env.insert("XDG_CONFIG_HOME", b.folder.filePath("config"));
        program.setProcessEnvironment(env);
        // The program's own folders.
        const QString home = b.folder.filePath("data/Normscope/Normscope");
        QVERIFY(QDir().mkpath(home));
        QVERIFY(QFile::rename(b.folder.filePath("state"), home + "/state"));
        program.start(QStringLiteral(NORMSCOPE_PROGRAM), {"--threads", "1"});
        QVERIFY(program.waitForStarted());
        const QString state = home + "/state/window-1.json";
        const QDateTime written = QFileInfo(state).lastModified();
        // It has restored the comparison and keeps it again, its size bounded by the platform's screen.
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(state).lastModified() > written, 30000);
        ::kill(pid_t(program.processId()), SIGKILL);
        QVERIFY(program.waitForFinished());
        QVERIFY(QDir().rename(home + "/state", b.folder.filePath("state")));
        startAgain(b, false);
        Screen after = screenOf(*b.window);
        after.view["size"] = before.view["size"];
        COMPARE_SCREENS(before, after);
    }
};

NORMSCOPE_WIDGET_TEST(RestoreWindowTest)
#include "restore_window_test.moc"
