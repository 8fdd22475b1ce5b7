// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/command_table.h"

#include "app/lab/lab.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/figure_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/files/recordings_controller.h"
#include "app/window/main_window.h"
#include "app/window/runs/difference_controller.h"
#include "app/window/runs/findings_controller.h"
#include "app/window/runs/intervention_switch.h"
#include "app/window/runs/notes_controller.h"
#include "app/window/runs/run_table_controller.h"
#include "app/window/runs/runs_controller.h"
#include "app/window/runs/step_cost_controller.h"
#include "app/window/runs/training_controller.h"
#include "app/window/runs/watch_controller.h"
#include "app/window/search_controller.h"
#include "app/window/state_controller.h"
#include "app/window/studies/claims_controller.h"
#include "app/window/studies/gallery_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "widgets/story/story_strip.h"

#include <algorithm>

namespace normscope::app {

namespace {

QKeySequence keys(const char* text) {
    return QKeySequence(QLatin1String(text));
}

void selectNext(Lab& lab) {
    lab.runs().select((lab.comparison().selected + 1) % static_cast<int>(lab.comparison().runs.size()));
}

void showPreviousStep(Lab& lab) {
    lab.view().setStep(std::min(lab.view().step(), lab.comparison().lastStep()) - 1);
}

void tryRemedies(Lab& lab) {
    if (const RemedyTrials* trials = lab.remedies().trials()) lab.remedies().tryOut(trials->shown());
}

}  // namespace

std::vector<CommandRow> commandTable(MainWindow& window) {
    using C = Command;
    using G = CommandGroup;
    MainWindow* const w = &window;
    Lab* const lab = window.lab();
    FilesController* const files = window.files();
    FigureController* const figures = window.figures();
    AppearanceController* const looks = window.appearance();
    RunsController* const runs = window.runs();
    TrainingController* const training = window.training();
    SweepController* const sweeps = window.sweeps();
    SearchController* const search = window.search();
    widgets::StoryStrip* const story = window.views().story;
    const auto tr = [](const char* text) { return Commands::tr(text); };
    return {
        {C::NewComparison,
         G::Sessions,
         tr("New comparison"),
         {QKeySequence::New},
         [=] { files->newComparison(); }},
        {C::Open, G::Sessions, tr("Open a session…"), {QKeySequence::Open}, [=] { files->open(); }},
        {C::OpenElsewhere,
         G::Sessions,
         tr("Open a recording of another machine…"),
         {},
         [=] { w->recordings()->openElsewhere(); }},
        {C::Recordings,
         G::Sessions,
         tr("Recordings: find one and add its run"),
         {keys("Ctrl+Shift+O")},
         [=] { w->recordings()->toggle(); }},
        {C::ImportModel,
         G::Sessions,
         tr("Import a model… (safetensors, llm.c, llama2.c)"),
         {keys("Ctrl+I")},
         [=] { files->importModel(); }},
        {C::Save, G::Saving, tr("Save the session"), {QKeySequence::Save}, [=] { files->save(); }},
        {C::SaveAs, G::Saving, tr("Save the session as…"), {keys("Ctrl+Shift+S")}, [=] { files->saveAs(); }},
        {C::ExportFigure,
         G::Export,
         tr("Export the figure…"),
         {keys("Ctrl+E")},
         [=] { figures->exportCurrent(); }},
        {C::SaveCsv,
         G::Export,
         tr("Save the panel's data as CSV…"),
         {keys("Ctrl+Shift+E")},
         [=] { figures->saveCurrentCsv(); }},
        {C::Restoring,
         G::Restart,
         tr("Restore this window at the next start, or begin with a new comparison"),
         {},
         [=] { w->state()->toggleRestoring(); }},

        {C::Undo, G::Undoing, tr("Undo"), {QKeySequence::Undo}, {}},
        {C::Redo, G::Undoing, tr("Redo"), {keys("Ctrl+Shift+Z"), keys("Ctrl+Y")}, {}},
        {C::CopyFigure,
         G::Clipboard,
         tr("Copy figure"),
         {keys("Ctrl+Shift+C")},
         [=] { figures->copyCurrent(); }},
        {C::CopyExperiment,
         G::Clipboard,
         tr("Copy experiment (recipe as JSON)"),
         {keys("Ctrl+Shift+J")},
         [=] { figures->copyExperiment(); }},
        {C::PasteExperiment,
         G::Clipboard,
         tr("Paste experiment into the selected run"),
         {keys("Ctrl+Shift+V")},
         [=] { figures->pasteExperiment(); }},
        {C::PasteAsRun,
         G::Clipboard,
         tr("Paste experiment as a new run"),
         {keys("Ctrl+Alt+V")},
         [=] { figures->pasteAsRun(); }},
        {C::Link,
         G::Linking,
         tr("Link or unlink the knobs"),
         {keys("Ctrl+L")},
         [=] { lab->runs().setLinked(!lab->comparison().linked); }},

        {C::Compare,
         G::Comparison,
         tr("Compare with another run"),
         {keys("Ctrl+=")},
         [=] { runs->addComparison(); }},
        {C::AddSeeds,
         G::Comparison,
         tr("Repeat every run with two more seeds"),
         {keys("Ctrl+Shift+R")},
         [=] { lab->runs().addSeeds(2); }},
        {C::GroupSeeds,
         G::Comparison,
         tr("Group runs that differ in the seed alone, or show each"),
         {keys("Ctrl+G")},
         [=] { lab->view().setGroupSeeds(!lab->view().groupsSeeds()); }},
        {C::HealthyRuns,
         G::Comparison,
         tr("Healthy runs: draw their band below the runs…"),
         {keys("Ctrl+Shift+B")},
         [=] { files->chooseHealthyRuns(); }},
        {C::NoHealthyRuns,
         G::Comparison,
         tr("Remove the band of healthy runs"),
         {},
         [=] { files->removeHealthyRuns(); }},
        {C::Pin, G::Run, tr("Duplicate as reference"), {Qt::Key_B}, [=] { lab->runs().pinSelected(); }},
        {C::Fork, G::Run, tr("Fork from this step"), {Qt::Key_K}, [=] { training->forkHere(); }},
        {C::Rename, G::Run, tr("Rename the selected run"), {Qt::Key_F2}, [=] { runs->renameSelected(); }},
        {C::RemoveRun,
         G::Run,
         tr("Remove the selected run"),
         {keys("Ctrl+Backspace")},
         [=] { lab->runs().remove(lab->comparison().selected); }},
        {C::NextRun, G::Run, tr("Select the next run"), {keys("Ctrl+R")}, [=] { selectNext(*lab); }},
        {C::Play, G::Training, tr("Train or pause"), {Qt::Key_Space}, [=] { lab->training().togglePlay(); }},
        {C::SingleStep,
         G::Training,
         tr("Train one step"),
         {Qt::Key_Period},
         [=] { lab->training().singleStep(); }},
        {C::Stop, G::Training, tr("Stop training"), {keys("Ctrl+.")}, [=] { lab->training().stop(); }},
        {C::StartNewRuns,
         G::Training,
         tr("Start new runs with the changed knobs"),
         {keys("Ctrl+Return")},
         [=] { lab->training().startNewRuns(); }},
        {C::ReplaceRuns,
         G::Training,
         tr("Replace the trained runs by new ones with the changed knobs"),
         {keys("Ctrl+Shift+Return")},
         [=] { lab->training().replaceRuns(); }},
        {C::Resume,
         G::Training,
         tr("Resume the selected run on the chosen device"),
         {},
         [=] { training->resumeSelected(); }},
        {C::MeasureHere,
         G::Measuring,
         tr("Measure at this step, or cancel it"),
         {Qt::Key_M},
         [=] { lab->measurement().measureHere(); }},
        {C::MeasureAround,
         G::Measuring,
         tr("Measure every step from 20 before this one to 20 after it, or cancel it"),
         {keys("Shift+M")},
         [=] { lab->measurement().measureAround(); }},
        {C::Watch,
         G::Measuring,
         tr("Watchpoints: pause where a value is reached…"),
         {keys("Ctrl+Shift+W")},
         [=] { w->watch()->editWatch(); }},
        {C::RaiseEps,
         G::Measuring,
         tr("While training, raise ε of norms that ε dominates"),
         {},
         [=] { InterventionSwitch::toggle(*lab); }},
        {C::ProbeCosts,
         G::Measuring,
         tr("Probes: economy, standard, full, and what each takes…"),
         {keys("Ctrl+Shift+P")},
         [=] { w->watch()->showCosts(); }},
        {C::Device, G::Measuring, tr("Choose the training device"), {}, [=] { training->showDevices(); }},

        {C::Focus, G::Layout, tr("Maximise the panel"), {Qt::Key_F}, [=] { looks->focusCurrent(); }},
        {C::LeaveFocus,
         G::Layout,
         tr("Close the drawer, or show all panels"),
         {Qt::Key_Escape},
         [=] { looks->resetFocus(); }},
        {C::Presentation,
         G::Layout,
         tr("Presentation mode"),
         {Qt::Key_F11},
         [=] { looks->togglePresentation(); }},
        {C::Rail, G::Layout, tr("Show or hide the third column"), {keys("F9")}, [=] { looks->toggleRail(); }},
        {C::Basic,
         G::Layout,
         tr("Basic window: two panels and four knobs, or the full one"),
         {keys("F8")},
         [=] { looks->toggleBasic(); }},
        {C::Theme, G::Layout, tr("Light or dark theme"), {keys("Ctrl+T")}, [=] { looks->toggleTheme(); }},
        {C::ShowSweep,
         G::Over,
         tr("Show the map of the sweep, or the panels"),
         {keys("F7")},
         [=] { sweeps->show(!sweeps->shown()); }},
        {C::RunTable,
         G::Over,
         tr("Table of all runs: outcome, losses, first event"),
         {keys("Ctrl+Shift+T")},
         [=] { w->runTable()->toggle(); }},
        {C::Difference,
         G::Over,
         tr("Where two runs differ: the first step and place, and how far later"),
         {keys("Ctrl+Shift+D")},
         [=] { w->difference()->toggle(); }},
        {C::StepCost,
         G::Over,
         tr("What limits a training step on a card: launches, memory, arithmetic"),
         {keys("Ctrl+Shift+L")},
         [=] { w->stepCost()->toggle(); }},
        {C::Notes,
         G::Over,
         tr("Notes on the comparison and on the selected run"),
         {keys("Ctrl+Shift+I")},
         [=] { w->notes()->toggle(); }},
        {C::Claims,
         G::Over,
         tr("Claims of the papers: what holds on the selected run"),
         {keys("Ctrl+Shift+K")},
         [=] { w->claims()->toggle(); }},
        {C::Gallery,
         G::Over,
         tr("Gallery of the papers' figures: their statements next to runs of this size"),
         {keys("Ctrl+Shift+G")},
         [=] { w->gallery()->toggle(); }},
        {C::FirstStep, G::Steps, tr("Show the first step (Home)"), {}, [=] { lab->view().setStep(0); }},
        {C::PreviousStep,
         G::Steps,
         tr("Show the previous step"),
         {keys(",")},
         [=] { showPreviousStep(*lab); }},
        {C::NewestStep,
         G::Steps,
         tr("Show the newest step (End)"),
         {},
         [=] { lab->view().setStep(LabView::kNewest); }},

        {C::NewSweep, G::SweepMenu, tr("New sweep…"), {keys("Ctrl+Shift+N")}, [=] { sweeps->create(); }},
        {C::ChooseSweep, G::SweepMenu, tr("Open a sweep…"), {keys("Ctrl+Alt+O")}, [=] { sweeps->choose(); }},
        {C::StopOrResumeSweep,
         G::SweepMenu,
         tr("Stop or resume the sweep"),
         {},
         [=] { sweeps->stopOrResume(); }},
        {C::ExplainFailure,
         G::NoMenu,
         tr("Why did the run fail? Its Why card"),
         {Qt::Key_W},
         [=] { w->findings()->explainFailure(); }},
        {C::TryRemedies,
         G::NoMenu,
         tr("Try the remedies of the failed run, from step 0"),
         {},
         [=] { tryRemedies(*lab); }},
        {C::StoryNext,
         G::NoMenu,
         tr("The next step of the story"),
         {Qt::Key_PageDown, keys("Alt+Right")},
         [=] { story->next(); }},
        {C::StoryBack,
         G::NoMenu,
         tr("The previous step of the story"),
         {Qt::Key_PageUp, keys("Alt+Left")},
         [=] { story->previous(); }},

        {C::Explain,
         G::Help,
         tr("Help on the panel: formula, source, erratum"),
         {Qt::Key_Question, Qt::Key_F1},
         [=] { figures->explainCurrent(); }},
        {C::Search, G::Help, tr("Find anything"), {keys("Ctrl+K")}, [=] { search->open(); }},
        {C::Shortcuts, G::Help, tr("All commands and their keys"), {keys("Ctrl+/")}, [=] { search->open(); }},
        {C::Quit, G::Program, tr("Quit"), {QKeySequence::Quit}, [=] { w->close(); }},
    };
}

}  // namespace normscope::app
