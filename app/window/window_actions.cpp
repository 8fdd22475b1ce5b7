// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/window_actions.h"

#include "app/lab/lab.h"
#include "app/window/claims_controller.h"
#include "app/window/gallery_controller.h"
#include "app/window/main_window.h"
#include "app/window/recordings_controller.h"
#include "app/window/sweep_controller.h"
#include "app/window/watch_controller.h"
#include "widgets/common/settings.h"
#include "widgets/story/story_strip.h"

#include <QAction>
#include <QApplication>
#include <QFileInfo>
#include <QMenu>
#include <functional>

namespace normscope::app {

namespace {

const QString kRecent = QStringLiteral("recentFile");

/// The window's actions of one submenu by their names; empty: a separator.
struct MenuPart {
    const char* title;
    std::vector<const char*> actions;
};

const std::vector<MenuPart>& menuParts() {
    static const std::vector<MenuPart> parts = {
        {QT_TRANSLATE_NOOP("MainWindow", "File"),
         {"new", "open", "recordings", "import", "", "save", "saveAs", "", "export", "csv", "", "restoring"}},
        {QT_TRANSLATE_NOOP("MainWindow", "Edit"),
         {"undo", "redo", "", "copyFigure", "copyExperiment", "pasteExperiment", "", "link"}},
        {QT_TRANSLATE_NOOP("MainWindow", "Runs"),
         {"compare",    "addSeeds",      "groupSeeds", "", "pin",         "fork",
          "rename",     "removeRun",     "nextRun",    "", "play",        "singleStep",
          "stop",       "startAsNewRun", "resume",     "", "measureHere", "watch",
          "probeCosts", "device"}},
        {QT_TRANSLATE_NOOP("MainWindow", "View"),
         {"focus", "leaveFocus", "presentation", "rail", "theme", "", "showSweep", "claims", "gallery", "",
          "firstStep", "previousStep", "newestStep"}},
        {QT_TRANSLATE_NOOP("MainWindow", "Help"), {"explain", "search", "shortcuts"}}};
    return parts;
}

/// The recent files, which change, before the last part of the menu of files.
void addRecentFiles(MainWindow& window, QMenu& files) {
    QAction* before = files.actions().constLast();
    for (QAction* action : window.actions())
        if (action->objectName() == kRecent && !files.actions().contains(action))
            files.insertAction(before, action);
}

}  // namespace

void addWindowActions(MainWindow& window) {
    Lab* lab = window.lab();
    MainWindow* w = &window;
    const auto add = [w](const char* name, const QString& text, const QList<QKeySequence>& keys,
                         std::function<void()> run) {
        auto* action = new QAction(text, w);
        action->setObjectName(QLatin1String(name));
        action->setShortcuts(keys);
        QObject::connect(action, &QAction::triggered, w, [run = std::move(run)] { run(); });
        w->addAction(action);
        return action;
    };
    const auto tr = [](const char* text) { return MainWindow::tr(text); };

    add("play", tr("Train or pause"), {Qt::Key_Space}, [lab] { lab->togglePlay(); });
    add("singleStep", tr("Train one step"), {Qt::Key_Period}, [lab] { lab->singleStep(); });
    add("stop", tr("Stop training"), {QKeySequence(QStringLiteral("Ctrl+."))}, [lab] { lab->stop(); });
    add("startAsNewRun", tr("Start as new run"), {QKeySequence(QStringLiteral("Ctrl+Return"))},
        [lab] { lab->startAsNewRun(); });
    add("resume", tr("Resume the selected run on the chosen device"), {}, [w] { w->resumeSelected(); });
    add("watch", tr("Watchpoints: pause where a value is reached…"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+W"))}, [w] { w->watch()->editWatch(); });
    add("probeCosts", tr("Probes: economy, standard, full, and what each takes…"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+P"))}, [w] { w->watch()->showCosts(); });
    add("device", tr("Choose the training device"), {}, [w] { w->showDevices(); });
    add("firstStep", tr("Show the first step (Home)"), {}, [lab] { lab->setStep(0); });
    add("newSweep", tr("New sweep…"), {QKeySequence(QStringLiteral("Ctrl+Shift+N"))},
        [w] { w->sweeps()->create(); });
    add("chooseSweep", tr("Open a sweep…"), {QKeySequence(QStringLiteral("Ctrl+Alt+O"))},
        [w] { w->sweeps()->choose(); });
    add("showSweep", tr("Show the map of the sweep, or the panels"), {QKeySequence(QStringLiteral("F7"))},
        [w] { w->sweeps()->show(!w->sweeps()->shown()); });
    add("stopOrResumeSweep", tr("Stop or resume the sweep"), {}, [w] { w->sweeps()->stopOrResume(); });
    add("newestStep", tr("Show the newest step (End)"), {}, [lab] { lab->setStep(Lab::kNewest); });
    add("previousStep", tr("Show the previous step"), {QKeySequence(QStringLiteral(","))},
        [lab] { lab->setStep(std::min(lab->step(), lab->lastStep()) - 1); });
    add("measureHere", tr("Measure at this step, or cancel it"), {Qt::Key_M}, [lab] { lab->measureHere(); });
    add("pin", tr("Duplicate as reference"), {Qt::Key_B}, [lab] { lab->pinSelected(); });
    add("fork", tr("Fork from this step"), {Qt::Key_K}, [lab] { lab->forkSelected(); });
    add("tryRemedies", tr("Try the remedies of the failed run, from step 0"), {}, [lab] {
        if (const RemedyTrials* trials = lab->remedyTrials()) lab->tryRemedies(trials->shown());
    });
    add("compare", tr("Compare with another run"), {QKeySequence(QStringLiteral("Ctrl+="))},
        [w] { w->addComparison(); });
    add("addSeeds", tr("Repeat every run with two more seeds"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+R"))}, [lab] { lab->addSeeds(2); });
    add("groupSeeds", tr("Group runs that differ in the seed alone, or show each"),
        {QKeySequence(QStringLiteral("Ctrl+G"))}, [lab] { lab->setGroupSeeds(!lab->groupsSeeds()); });
    add("rename", tr("Rename the selected run"), {Qt::Key_F2}, [w] { w->renameSelected(); });
    add("removeRun", tr("Remove the selected run"), {QKeySequence(QStringLiteral("Ctrl+Backspace"))},
        [lab] { lab->removeRun(lab->selectedRun()); });
    add("nextRun", tr("Select the next run"), {QKeySequence(QStringLiteral("Ctrl+R"))},
        [lab] { lab->selectRun((lab->selectedRun() + 1) % static_cast<int>(lab->runs().size())); });
    add("link", tr("Link or unlink the knobs"), {QKeySequence(QStringLiteral("Ctrl+L"))},
        [lab] { lab->setLinked(!lab->linked()); });

    QAction* undo = lab->undoStack()->createUndoAction(w, tr("Undo"));
    undo->setObjectName(QStringLiteral("undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = lab->undoStack()->createRedoAction(w, tr("Redo"));
    redo->setObjectName(QStringLiteral("redo"));
    redo->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))});
    w->addAction(undo);
    w->addAction(redo);

    add("new", tr("New comparison"), {QKeySequence::New}, [w] { w->newComparison(); });
    add("open", tr("Open a session…"), {QKeySequence::Open}, [w] { w->open(); });
    add("recordings", tr("Recordings: find one and add its run"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+O"))}, [w] { w->recordings()->toggle(); });
    add("claims", tr("Claims of the papers: what holds on the selected run"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+K"))}, [w] { w->claims()->toggle(); });
    add("gallery", tr("Gallery of the papers' figures: their statements next to runs of this size"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+G"))}, [w] { w->gallery()->toggle(); });
    add("import", tr("Import a model… (safetensors, llm.c, llama2.c)"),
        {QKeySequence(QStringLiteral("Ctrl+I"))}, [w] { w->importModel(); });
    add("save", tr("Save the session"), {QKeySequence::Save}, [w] { w->save(); });
    add("saveAs", tr("Save the session as…"), {QKeySequence(QStringLiteral("Ctrl+Shift+S"))},
        [w] { w->saveAs(); });
    add("export", tr("Export the figure…"), {QKeySequence(QStringLiteral("Ctrl+E"))},
        [w] { w->exportCurrent(); });
    add("csv", tr("Save the panel's data as CSV…"), {QKeySequence(QStringLiteral("Ctrl+Shift+E"))},
        [w] { w->saveCsv(); });
    add("copyFigure", tr("Copy figure"), {QKeySequence(QStringLiteral("Ctrl+Shift+C"))},
        [w] { w->copyFigure(); });
    add("copyExperiment", tr("Copy experiment (recipe as JSON)"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+J"))}, [w] { w->copyExperiment(); });
    add("pasteExperiment", tr("Paste experiment into the selected run"),
        {QKeySequence(QStringLiteral("Ctrl+Shift+V"))}, [w] { w->pasteExperiment(); });
    add("search", tr("Find anything"), {QKeySequence(QStringLiteral("Ctrl+K"))},
        [w] { w->searchCommands(); });
    add("shortcuts", tr("All commands and their keys"), {QKeySequence(QStringLiteral("Ctrl+/"))},
        [w] { w->showShortcuts(); });
    add("explain", tr("Help on the panel: formula, source, erratum"), {Qt::Key_Question, Qt::Key_F1},
        [w] { w->explainCurrent(); });
    add("focus", tr("Maximise the panel"), {Qt::Key_F}, [w] { w->focusCurrent(); });
    add("leaveFocus", tr("Close the drawer, or show all panels"), {Qt::Key_Escape}, [w] { w->leaveFocus(); });
    add("presentation", tr("Presentation mode"), {Qt::Key_F11}, [w] { w->togglePresentation(); });
    const auto story = [w](const char* name, const QString& text, const QList<QKeySequence>& keys,
                           void (StoryStrip::*move)()) {
        auto* action = new QAction(text, w);
        action->setObjectName(QLatin1String(name));
        action->setShortcuts(keys);
        action->setEnabled(false);  // without a story
        QObject::connect(action, &QAction::triggered, w->story(), move);
        w->addAction(action);
    };
    story("storyNext", tr("The next step of the story"),
          {Qt::Key_PageDown, QKeySequence(QStringLiteral("Alt+Right"))}, &StoryStrip::next);
    story("storyBack", tr("The story's step before"),
          {Qt::Key_PageUp, QKeySequence(QStringLiteral("Alt+Left"))}, &StoryStrip::previous);
    add("rail", tr("Show or hide the third column"), {QKeySequence(QStringLiteral("F9"))},
        [w] { w->toggleRail(); });
    add("theme", tr("Light or dark theme"), {QKeySequence(QStringLiteral("Ctrl+T"))},
        [w] { w->toggleTheme(); });
    add("restoring", tr("Restore this window at the next start, or begin with a new comparison"), {},
        [w] { w->toggleRestoring(); });
    add("quit", tr("Quit"), {QKeySequence::Quit}, [w] { w->close(); });
    updateRecentFiles(window);
}

void fillWindowMenu(MainWindow& window, QMenu& menu) {
    for (const MenuPart& part : menuParts()) {
        QMenu* sub = menu.addMenu(MainWindow::tr(part.title));
        for (const char* name : part.actions)
            if (*name)
                sub->addAction(window.findChild<QAction*>(QLatin1String(name)));
            else
                sub->addSeparator();
    }
    menu.addSeparator();
    menu.addAction(window.findChild<QAction*>(QStringLiteral("quit")));
    auto* files = menu.actions().constFirst()->menu();
    QObject::connect(files, &QMenu::aboutToShow, &window,
                     [&window, files] { addRecentFiles(window, *files); });
}

void updateRecentFiles(MainWindow& window) {
    const auto actions = window.actions();
    for (QAction* action : actions)
        if (action->objectName() == kRecent) delete action;
    const QStringList recent = Settings().recentFiles();
    for (qsizetype i = 0; i < recent.size(); ++i) {
        auto* action = new QAction(MainWindow::tr("Open %1").arg(QFileInfo(recent[i]).fileName()), &window);
        action->setObjectName(kRecent);
        action->setToolTip(recent[i]);
        action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
        QObject::connect(action, &QAction::triggered, &window,
                         [w = &window, path = recent[i]] { w->askAndOpen(path); });
        window.addAction(action);
    }
}

}  // namespace normscope::app
