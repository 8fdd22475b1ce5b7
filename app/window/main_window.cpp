// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/main_window.h"

#include "app/lab/lab.h"
#include "app/window/appearance_controller.h"
#include "app/window/command_table.h"
#include "app/window/files/drop_controller.h"
#include "app/window/files/figure_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/files/recordings_controller.h"
#include "app/window/runs/basic_hint.h"
#include "app/window/runs/difference_controller.h"
#include "app/window/runs/findings_controller.h"
#include "app/window/runs/intervention_switch.h"
#include "app/window/runs/notes_controller.h"
#include "app/window/runs/panels_controller.h"
#include "app/window/runs/run_table_controller.h"
#include "app/window/runs/runs_controller.h"
#include "app/window/runs/side_rail_controller.h"
#include "app/window/runs/step_cost_controller.h"
#include "app/window/runs/story_controller.h"
#include "app/window/runs/training_controller.h"
#include "app/window/runs/watch_controller.h"
#include "app/window/search_controller.h"
#include "app/window/state_controller.h"
#include "app/window/studies/claims_controller.h"
#include "app/window/studies/gallery_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "app/window/window_view.h"
#include "widgets/common/banner.h"
#include "widgets/common/drop_target.h"
#include "widgets/common/pulse.h"
#include "widgets/common/settings.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/drawers/side_rail.h"
#include "widgets/findings/findings_band.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/comparison_title.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/stack/stack_view.h"
#include "widgets/story/story_strip.h"
#include "widgets/sweep/sweep_band.h"
#include "widgets/sweep/sweep_view.h"

#include <QAction>
#include <QBoxLayout>
#include <QCloseEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QScreen>
#include <QShortcut>
#include <QStackedWidget>

namespace normscope::app {

namespace {

constexpr int kRailWidth = 280;
constexpr QSize kFirstSize(1440, 900), kMinSize(1180, 700);
constexpr int kTitleBar = 40;  // of the window manager, where it is not known yet

template <class View>
View* named(View* view, const char* name) {
    view->setObjectName(QLatin1String(name));
    return view;
}

}  // namespace

MainWindow::MainWindow(const QString& recordings_folder, int threads, const QString& backend)
    : lab_(new Lab({threads,
                    recordings_folder,
                    {},
                    (backend.isEmpty() ? widgets::Settings().backend() : backend).toStdString()},
                   this)) {
    setObjectName(QStringLiteral("mainWindow"));
    buildViews();
    arrangeViews();
    buildControllers(recordings_folder);
    buildCommands();
    appearance_->setDark(widgets::Settings().dark());
    runs_->show();
    training_->show();
    setMinimumSize(kMinSize);
    const QSize screen = this->screen()->availableSize() - QSize(0, kTitleBar);
    resize(kFirstSize.boundedTo(screen).expandedTo(kMinSize));
}

MainWindow::~MainWindow() {
    // The lab is a child and is destroyed later: clearing its undo stack would signal a destroyed window.
    disconnect(lab_->runs().undoStack(), nullptr, runs_, nullptr);
}

void MainWindow::buildViews() {
    WindowViews& v = views_;
    v.strip = named(new widgets::RunStrip(this), "runStrip");
    v.stack = named(new widgets::StackView(this), "stackView");
    v.knobs = named(new widgets::KnobPanel(this), "knobPanel");
    v.transport = named(new widgets::TransportBar(this), "transportBar");
    panels_ = new PanelsController(*lab_, this);
    v.grid = panels_->grid();
    v.rail = new widgets::SideRail(this);
    new SideRailController(*lab_, *v.rail);
    v.rail->setFixedWidth(kRailWidth);
    v.rail->hide();
    v.sweep_map = new widgets::SweepView(this);
    v.area = new QStackedWidget(this);
    v.area->addWidget(v.grid);
    v.area->addWidget(v.sweep_map);
    v.banner = new widgets::Banner(v.area, this);
    v.help = new widgets::HelpDrawer(v.area, this);
    v.left = new QWidget(this);
    v.story = new widgets::StoryStrip(this);
    findings_ = new FindingsController(*lab_, this);
    v.findings = findings_->band();
    connect(findings_, &FindingsController::plotRequested, panels_, &PanelsController::showPlot);
    connect(findings_, &FindingsController::noted, v.banner,
            [banner = v.banner](const QString& line) { banner->showMessage(line); });
    v.sweep_band = new widgets::SweepBand(this);
    v.upper = new QStackedWidget(this);
    v.upper->setFixedHeight(widgets::FindingsBand::kHeight);
    v.upper->addWidget(v.findings);
    v.upper->addWidget(v.sweep_band);
    v.hint = (new BasicHint(*lab_, this))->label();
    v.presentation =
        new widgets::Presentation(*this, *v.grid, *v.story, {v.strip, v.left, v.upper, v.rail, v.transport});
    connect(v.grid, &widgets::PanelGrid::layerHovered, v.stack, &widgets::StackView::setHoveredLayer);
}

void MainWindow::arrangeViews() {
    const WindowViews& v = views_;
    auto* left = new QVBoxLayout(v.left);
    left->setContentsMargins(12, 0, 0, 0);
    left->setSpacing(0);
    left->addWidget(v.stack);
    left->addWidget(v.knobs, 1);
    auto* centre = new QVBoxLayout;
    centre->setContentsMargins(0, 0, 0, 0);
    centre->setSpacing(0);
    centre->addWidget(v.story);
    centre->addWidget(v.presentation->head());
    centre->addWidget(v.upper);
    centre->addWidget(v.hint);
    centre->addWidget(v.area, 1);
    auto* middle = new QHBoxLayout;
    middle->setContentsMargins(0, 0, 0, 0);
    middle->setSpacing(1);
    middle->addWidget(v.left);
    middle->addLayout(centre, 1);
    middle->addWidget(v.rail);
    auto* all = new QWidget(this);
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    column->addWidget(v.strip);
    column->addLayout(middle, 1);
    column->addWidget(v.transport);
    column->addWidget(v.presentation->foot());
    setCentralWidget(all);
    // The first focus: of no button, which would keep Space, the key of the training, for itself.
    all->setFocusPolicy(Qt::ClickFocus);
    all->setFocus();
    views_.pulse = new widgets::Pulse(this);
    // The window's actions handle Space and Ctrl+K, also while the bars are hidden.
    for (QWidget* bar : {static_cast<QWidget*>(v.strip), static_cast<QWidget*>(v.transport)})
        for (QShortcut* shortcut : bar->findChildren<QShortcut*>()) shortcut->setEnabled(false);
}

void MainWindow::buildControllers(const QString& recordings_folder) {
    const WindowViews& v = views_;
    const ViewText text{[this] { return viewJson(*this); },
                        [this](const std::string& view) { applyViewJson(*this, view, true); },
                        [this](const std::string& view) { applyViewJson(*this, view, false); }};
    connect(lab_, &Lab::problem, v.banner,
            [banner = v.banner](const QString& line) { banner->showMessage(line); });
    sweeps_ = new SweepController(*lab_, {v.sweep_map, v.sweep_band, v.area, v.upper, v.knobs, v.banner},
                                  recordings_folder, this);
    files_ = new FilesController(*lab_, *v.banner, text, this);
    figures_ = new FigureController(*lab_, *sweeps_, {v.grid, v.help, v.banner}, this);
    appearance_ = new AppearanceController(
        *sweeps_, {v.strip, v.left, v.grid, v.rail, v.transport, v.presentation, v.banner, v.knobs, v.hint},
        this);
    stories_ = new StoryController(
        *lab_, {v.story, v.strip, v.findings, v.presentation, v.knobs, v.transport, v.pulse, panels_}, this);
    runs_ = new RunsController(*lab_, *sweeps_, {v.strip, v.knobs, v.stack, v.grid, v.presentation->foot()},
                               this);
    training_ = new TrainingController(*lab_, *files_, {v.transport, v.presentation, v.banner}, this);
    auto* target = new widgets::DropTarget(this);
    recordings_ = new RecordingsController(*lab_, {v.grid, v.area, v.strip, this, target}, recordings_folder,
                                           *v.banner);
    new DropController(*lab_, *files_, {v.area, v.strip, this, target});
    run_table_ = new RunTableController(*lab_, v.area, *v.banner, this);
    difference_ = new DifferenceController(*lab_, v.area, this);
    step_cost_ = new StepCostController(*lab_, v.area, this);
    notes_ = new NotesController(*lab_, v.area, this);
    claims_ = new ClaimsController(*lab_, *v.grid, *v.knobs, *sweeps_, this);
    watch_ = new WatchController(*lab_, *v.banner, *v.transport->rates(), this);
    gallery_ = new GalleryController(lab_->gallery(), lab_->sweeps(), *sweeps_, *v.banner, v.area, this);
    state_ = new StateController(*lab_, *stories_, {v.story, v.banner}, text, recordings_folder, this);
    search_ =
        new SearchController(lab_->runs(), *runs_, *stories_, *sweeps_, {v.strip, v.knobs, v.grid}, this);
    search_->offer([this] { return findings_->commands(); });
    search_->offer([this] { return gallery_->commands(); });
    connect(v.strip, &widgets::RunStrip::recordingsRequested, recordings_, &RecordingsController::toggle);
    connect(files_, &FilesController::sweepRequested, sweeps_, &SweepController::open);
    connect(files_, &FilesController::opened, runs_, &RunsController::showTitle);
    connect(state_, &StateController::restored, runs_, &RunsController::showTitle);
    connect(appearance_, &AppearanceController::presentationChanged, training_, &TrainingController::show);
    connect(appearance_, &AppearanceController::presentationChanged, stories_, &StoryController::showAction);
}

void MainWindow::buildCommands() {
    using enum Command;
    commands_ = new Commands(commandTable(*this), *lab_->runs().undoStack(), *this);
    Commands& commands = *commands_;
    commands.fill(*views_.strip->title()->menu());
    new InterventionSwitch(*lab_, *commands[RaiseEps], this);
    views_.strip->title()->setUndoActions(commands[Undo], commands[Redo]);
    commands.addTo(*views_.strip->sweepMenu(),
                   {NewSweep, ChooseSweep, ShowSweep, StopOrResumeSweep, Gallery});
    connect(commands_, &Commands::recentFileChosen, files_, &FilesController::confirmAndOpen);
    connect(files_, &FilesController::recentFilesChanged, commands_, &Commands::updateRecentFiles);
    connect(sweeps_, &SweepController::opened, commands_, [this](const QString& folder) {
        widgets::Settings().addRecentFile(folder);
        commands_->updateRecentFiles();
    });
    connect(runs_, &RunsController::runMenuRequested, this, [this](const QPoint& at) {
        QMenu menu(this);
        commands_->addTo(menu,
                         {Pin, Fork, Resume, Watch, RaiseEps, ProbeCosts, AddSeeds, GroupSeeds, HealthyRuns,
                          NoHealthyRuns, Rename, RemoveRun, CopyExperiment, PasteExperiment, PasteAsRun});
        menu.exec(at);
    });
    const auto enableStory = [this](bool shown) {
        for (const Command command : {StoryNext, StoryBack}) (*commands_)[command]->setEnabled(shown);
    };
    enableStory(false);
    connect(stories_, &StoryController::shownChanged, this, enableStory);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (appearance_) appearance_->arrange();
}

/// Asks only where something would be lost: the next start restores a window whose state is kept.
void MainWindow::closeEvent(QCloseEvent* event) {
    const bool kept = state_->keep(true);
    event->setAccepted(may_close_ || kept ||
                       (!lab_->session().unsaved() && !lab_->comparison().anyTraining()));
    if (event->isAccepted()) return state_->stop();
    files_->leaving(tr("Quit"), [this] {
        may_close_ = true;
        close();
    });
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Home)
        lab_->view().setStep(0);
    else if (event->key() == Qt::Key_End)
        lab_->view().setStep(LabView::kNewest);
    else
        QMainWindow::keyPressEvent(event);
}

}  // namespace normscope::app
