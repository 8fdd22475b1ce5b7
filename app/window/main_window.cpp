// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/main_window.h"

#include "app/lab/lab.h"
#include "app/window/claims_controller.h"
#include "app/window/findings_controller.h"
#include "app/window/gallery_controller.h"
#include "app/window/kept_state.h"
#include "app/window/panels_controller.h"
#include "app/window/presentation_controller.h"
#include "app/window/recordings_controller.h"
#include "app/window/side_rail_controller.h"
#include "app/window/story_guide.h"
#include "app/window/sweep_controller.h"
#include "app/window/watch_controller.h"
#include "app/window/window_actions.h"
#include "core/recipe/presets.h"
#include "core/run/experiment.h"
#include "core/stack/warnings.h"
#include "widgets/common/banner.h"
#include "widgets/common/palette.h"
#include "widgets/common/pulse.h"
#include "widgets/common/settings.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/drawers/side_rail.h"
#include "widgets/figures/groups/gradient_ribbons.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/findings/findings_band.h"
#include "widgets/knobs/diff_list.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/path_knob.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/comparison_title.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/stack/stack_view.h"
#include "widgets/story/story_strip.h"
#include "widgets/sweep/sweep_band.h"
#include "widgets/sweep/sweep_view.h"

#include <nlohmann/json.hpp>

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QShortcut>
#include <QStackedWidget>
#include <algorithm>
#include <cmath>
#include <set>

namespace normscope::app {

namespace {

constexpr int kWideFrom = 1700;  // window width at which the third column and the rail fit
constexpr int kRailWidth = 280;
constexpr int kBarsInterval = 100;

/// The built-in presets with their display titles.
std::vector<widgets::NamedRecipe> namedPresets() {
    std::vector<widgets::NamedRecipe> named;
    for (const Preset& preset : presets())
        named.push_back(
            {QString::fromLatin1(preset.name),
             QString::fromStdString(nlohmann::json::parse(preset.json).value("title", preset.name)),
             read_recipe(preset.name)});
    return named;
}

}  // namespace

MainWindow::MainWindow(const QString& recordings_folder, int threads, const QString& backend)
    : recordings_folder_(recordings_folder),
      lab_(new Lab({threads,
                    recordings_folder,
                    {},
                    (backend.isEmpty() ? Settings().backend() : backend).toStdString()},
                   this)),
      presets_(namedPresets()) {
    setObjectName(QStringLiteral("mainWindow"));
    buildLayout();
    connectStrip();
    connectKnobs();
    connectStack();
    connectTransport();
    recordings_ = new RecordingsController(*lab_, {grid_, area_, strip_, this}, recordings_folder_, *banner_);
    connect(strip_, &widgets::RunStrip::recordingsRequested, recordings_, &RecordingsController::toggle);
    claims_ = new ClaimsController(*lab_, *grid_, *knobs_, *sweeps_, this);
    watch_ =
        new WatchController(*lab_, *banner_, *transport_->findChild<QLabel*>(QStringLiteral("rates")), this);
    gallery_ = new GalleryController(*lab_, *sweeps_, *banner_, area_, this);
    connectSweeps();
    connect(lab_, &Lab::problem, this, [this](const QString& message) { banner_->tell(message); });
    connect(lab_, &Lab::runsFailed, this, &MainWindow::offerResumption);
    connect(lab_, &Lab::devicesChanged, this, &MainWindow::showDeviceChoice);
    // While a knob is dragged the figures come first: they would wait for chips, knobs and stack at every
    // move.
    show_runs_later_.setSingleShot(true);
    show_runs_later_.setInterval(kBarsInterval);
    connect(&show_runs_later_, &QTimer::timeout, this, &MainWindow::showRuns);
    const auto showRunsSoon = [this] {
        if (!lab_->dragging()) return showRuns();
        if (!show_runs_later_.isActive()) show_runs_later_.start();
    };
    connect(lab_, &Lab::runsChanged, this, showRunsSoon);
    connect(lab_, &Lab::noticesChanged, this, showRunsSoon);
    connect(lab_, &Lab::draggingChanged, this, [this](bool dragging) {
        if (!dragging) showRuns();
    });
    connect(lab_, &Lab::viewChanged, this, [this] {
        if (lab_->selectedLayer() >= 0) stack_->select(lab_->selectedLayer(), stack_->selectedSublayer());
        showTransport();
        showRibbons();
    });
    show_later_.setSingleShot(true);
    show_later_.setInterval(kBarsInterval);
    connect(&show_later_, &QTimer::timeout, this, [this] {
        showTitle();
        showTransport();
        showRibbons();
    });
    const auto later = [this] {
        if (!show_later_.isActive()) show_later_.start();
    };
    connect(lab_, &Lab::trainingChanged, this, later);
    connect(lab_, &Lab::measuringChanged, this, later);
    connect(lab_, &Lab::dataChanged, this, later);
    connect(lab_, &Lab::sessionOpened, this, &MainWindow::afterOpening);
    connect(lab_, &Lab::sessionSaved, this, [this](const QString& path, quint64 token) {
        lab_->setSessionPath(path);
        Settings().addRecentFile(path);
        updateRecentFiles(*this);
        showTitle();
        banner_->tell(tr("Saved %1").arg(path));
        if (auto waiting = after_saving_.extract(token)) waiting.mapped()();
    });
    connect(lab_, &Lab::savingFailed, this, [this](quint64 token) { after_saving_.erase(token); });
    connect(lab_, &Lab::interruptedFound, this, &MainWindow::offerInterruptedRuns);
    connect(lab_, &Lab::sessionPathChanged, this, &MainWindow::showTitle);
    connect(lab_->undoStack(), &QUndoStack::cleanChanged, this, &MainWindow::showTitle);
    addWindowActions(*this);
    fillWindowMenu(*this, *strip_->title()->menu());
    strip_->title()->setUndoActions(findChild<QAction*>(QStringLiteral("undo")),
                                    findChild<QAction*>(QStringLiteral("redo")));
    for (const char* name : {"newSweep", "chooseSweep", "showSweep", "stopOrResumeSweep", "gallery"})
        strip_->sweepMenu()->addAction(findChild<QAction*>(QLatin1String(name)));
    setDark(Settings().dark());
    showRuns();
    showTransport();
    showRibbons();
    showTitle();
    resize(1440, 900);
}

MainWindow::~MainWindow() {
    // The lab is a child and is destroyed later: clearing its undo stack would signal a destroyed window.
    disconnect(lab_->undoStack(), nullptr, this, nullptr);
}

// --- layout

void MainWindow::buildLayout() {
    strip_ = new widgets::RunStrip(this);
    strip_->setObjectName(QStringLiteral("runStrip"));
    stack_ = new widgets::StackView(this);
    stack_->setObjectName(QStringLiteral("stackView"));
    knobs_ = new widgets::KnobPanel(this);
    knobs_->setObjectName(QStringLiteral("knobPanel"));
    transport_ = new widgets::TransportBar(this);
    transport_->setObjectName(QStringLiteral("transportBar"));
    grid_ = (new PanelsController(*lab_, this))->grid();
    rail_ = new widgets::SideRail(this);
    new SideRailController(*lab_, *rail_);
    rail_->setFixedWidth(kRailWidth);
    rail_->hide();
    auto* map = new widgets::SweepView(this);
    area_ = new QStackedWidget(this);
    area_->addWidget(grid_);
    area_->addWidget(map);
    banner_ = new Banner(area_, this);
    help_ = new widgets::HelpDrawer(area_, this);

    left_ = new QWidget(this);
    auto* left = new QVBoxLayout(left_);
    left->setContentsMargins(12, 0, 0, 0);
    left->setSpacing(0);
    left->addWidget(stack_);
    left->addWidget(knobs_, 1);

    auto* centre = new QVBoxLayout;
    centre->setContentsMargins(0, 0, 0, 0);
    centre->setSpacing(0);
    story_ = new StoryStrip(this);
    guide_ = new StoryGuide(*lab_, *story_, this);
    findings_ = (new FindingsController(*lab_, this))->band();
    auto* sweep_band = new widgets::SweepBand(this);
    upper_ = new QStackedWidget(this);
    upper_->setFixedHeight(FindingsBand::kHeight);
    upper_->addWidget(findings_);
    upper_->addWidget(sweep_band);
    sweeps_ = new SweepController(*lab_, {map, sweep_band, area_, upper_, knobs_, banner_},
                                  recordings_folder_, this);
    presentation_ = new Presentation(*this, *grid_, *story_, {strip_, left_, upper_, rail_, transport_});
    connectPresentation(*presentation_, *lab_);
    centre->addWidget(story_);
    centre->addWidget(presentation_->head());
    centre->addWidget(upper_);
    centre->addWidget(area_, 1);
    auto* middle = new QHBoxLayout;
    middle->setContentsMargins(0, 0, 0, 0);
    middle->setSpacing(1);
    middle->addWidget(left_);
    middle->addLayout(centre, 1);
    middle->addWidget(rail_);
    auto* all = new QWidget(this);
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    column->addWidget(strip_);
    column->addLayout(middle, 1);
    column->addWidget(transport_);
    column->addWidget(presentation_->foot());
    setCentralWidget(all);
    // The first focus: of no button, which would keep Space, the key of the training, for itself.
    all->setFocusPolicy(Qt::ClickFocus);
    all->setFocus();
    pulse_ = new Pulse(this);

    // The window's actions handle Space and Ctrl+K, also while the bars are hidden.
    for (QWidget* bar : {static_cast<QWidget*>(strip_), static_cast<QWidget*>(transport_)})
        for (QShortcut* shortcut : bar->findChildren<QShortcut*>()) shortcut->setEnabled(false);

    connect(grid_, &PanelGrid::helpRequested, this, [this](PanelCell* cell) { explain(*cell); });
    connect(grid_, &PanelGrid::exportRequested, this, [this](PanelCell* cell) { exportPanel(*cell); });
    connect(grid_, &PanelGrid::csvRequested, this, [this](PanelCell* cell) { saveCsvOf(*cell); });
    connect(grid_, &PanelGrid::copyRequested, this, [this](PanelCell* cell) { copyFigureOf(*cell); });
    connect(grid_, &PanelGrid::layerHovered, stack_, &widgets::StackView::setHoveredLayer);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    arrangeForSize();
}

void MainWindow::arrangeForSize() {
    const int left = width() >= kWideFrom ? 320 : 280;
    left_->setFixedWidth(left);
    strip_->setLeftWidth(left);
    transport_->setLeftWidth(left);
    if (!wide_by_hand_ && !presentation_->isOn() && grid_->isWide() != (width() >= kWideFrom)) {
        grid_->setWide(width() >= kWideFrom);
        rail_->setVisible(width() >= kWideFrom);
    }
}

void MainWindow::setWide(bool wide) {
    wide_by_hand_ = wide != (width() >= kWideFrom);
    grid_->setWide(wide);
    rail_->setVisible(wide && !presentation_->isOn());
}

void MainWindow::setDark(bool dark) {
    dark_ = dark;
    QApplication::setPalette(windowPalette(dark));
    const auto theme = widgets::Theme::make(dark ? widgets::Theme::Kind::Dark : widgets::Theme::Kind::Light);
    grid_->setTheme(theme);
    sweeps_->map()->setTheme(theme);
    Settings().setDark(dark);
}

void MainWindow::orderTheme(bool dark) {
    setDark(dark);
    theme_ordered_ = true;
}

void MainWindow::restoreTheme(bool dark) {
    if (!theme_ordered_) setDark(dark);
}

// --- wiring

void MainWindow::connectStrip() {
    QStringList names, titles;
    for (const widgets::NamedRecipe& preset : presets_) {
        names << preset.name;
        titles << preset.title;
    }
    strip_->setPresets(names, titles);
    connect(strip_, &widgets::RunStrip::runSelected, this, [this](const QString& id) {
        for (std::size_t i = 0; i < lab_->runs().size(); ++i)
            if (QString::fromStdString(lab_->runs()[i].id) == id) lab_->selectRun(static_cast<int>(i));
    });
    connect(strip_, &widgets::RunStrip::runMenuRequested, this, [this](const QString& id, const QPoint& at) {
        Q_EMIT strip_->runSelected(id);
        QMenu menu(this);
        for (const char* name : {"pin", "fork", "resume", "watch", "probeCosts", "addSeeds", "groupSeeds",
                                 "rename", "removeRun", "copyExperiment", "pasteExperiment"})
            menu.addAction(findChild<QAction*>(QLatin1String(name)));
        menu.exec(at);
    });
    connect(strip_, &widgets::RunStrip::runRenamed, this, [this](const QString& id, const QString& name) {
        for (std::size_t i = 0; i < lab_->runs().size(); ++i)
            if (QString::fromStdString(lab_->runs()[i].id) == id)
                return lab_->renameRun(static_cast<int>(i), name);
    });
    connect(strip_, &widgets::RunStrip::compareRequested, this, &MainWindow::addComparison);
    connect(strip_, &widgets::RunStrip::presetChosen, lab_, &Lab::loadPreset);
    connectStories();
    connect(strip_, &widgets::RunStrip::commandSearchRequested, this, &MainWindow::searchCommands);
    connect(strip_, &widgets::RunStrip::themeToggled, this, &MainWindow::toggleTheme);
}

QString storyTitle(const Preset& story) {
    return QString::fromStdString(nlohmann::json::parse(story.json).value("title", story.name));
}

void MainWindow::connectStories() {
    QStringList names, titles;
    std::set<std::size_t> steps;
    for (const Preset& story : stories()) {
        names << QString::fromLatin1(story.name);
        titles << storyTitle(story);
        steps.insert(nlohmann::json::parse(story.json).at("steps").size());
    }
    strip_->setStories(names, titles);
    findings_->setStories(
        names, titles,
        steps.size() == 1
            ? tr("Stories: %1 steps each, on real runs").arg(*steps.begin())
            : tr("Stories: %1 to %2 steps, on real runs").arg(*steps.begin()).arg(*steps.rbegin()));
    connect(strip_, &widgets::RunStrip::storyChosen, this, &MainWindow::tellStory);
    connect(findings_, &FindingsBand::storyChosen, this, &MainWindow::tellStory);
    connect(guide_, &StoryGuide::actionChanged, this, &MainWindow::showStoryAction);
    const auto keys = [this] {
        for (const char* name : {"storyNext", "storyBack"})
            findChild<QAction*>(QLatin1String(name))->setEnabled(story_->story().has_value());
    };
    connect(story_, &StoryStrip::stepTold, this, keys);
    connect(story_, &StoryStrip::ended, this, keys);
}

/// The control that a story asks for pulses.
void MainWindow::showStoryAction() {
    const std::optional<StoryAction> action = guide_->action();
    const bool presenting = presentation_->isOn(), knob = action && action->kind == StoryAction::Kind::Knob;
    const QString key = knob ? QString::fromStdString(action->key) : QString();
    presentation_->foot()->setTarget(key, knob ? std::optional(action->to) : std::nullopt);
    if (!action) return pulse_->show(nullptr, {});
    if (!knob) {
        QWidget* train = presenting ? static_cast<QWidget*>(presentation_->foot()->train())
                                    : transport_->findChild<QWidget*>(QStringLiteral("playButton"));
        return pulse_->show(train, [train] { return QRectF(train->rect()).center(); });
    }
    widgets::KnobSlider* slider = presentation_->foot()->slider(key);
    if (!presenting) {
        knobs_->reveal(key);
        const auto* row = qobject_cast<widgets::Knob*>(knobs_->row(key));
        slider = row ? row->slider() : nullptr;
    }
    pulse_->show(slider, [slider] { return slider->thumb(); });
}

void MainWindow::tellStory(const QString& name) {
    for (const Preset& file : stories())
        if (name == QLatin1String(file.name)) {
            guide_->tell(read_story(file.name, file.json));
            presentation_->showStoryPanel();
            return;
        }
}

void MainWindow::connectKnobs() {
    connect(knobs_, &widgets::KnobPanel::keyDragStarted, lab_, &Lab::beginDrag);
    connect(knobs_, &widgets::KnobPanel::keyChanging, lab_, &Lab::dragKey);
    connect(knobs_, &widgets::KnobPanel::keyCommitted, this,
            [this](const QString& key, const QVariant&, const QVariant& value) {
                lab_->commitKey(key, value);
                if (key == u"data.source" && lab_->selected().awaitsFile())
                    qobject_cast<widgets::PathKnob*>(knobs_->row(QStringLiteral("data.path")))->ask();
            });
    connect(knobs_, &widgets::KnobPanel::runKeyCommitted, lab_,
            [this](int run, const QString& key, const QVariant&, const QVariant& value) {
                lab_->commitKeyOf(run, key, value);
            });
    connect(knobs_, &widgets::KnobPanel::linkToggled, lab_, &Lab::setLinked);
    knobs_->differences()->setPresets(presets_);
    QStringList precisions;
    for (const Precision precision : cpu_precisions()) precisions << QLatin1String(word_of(precision));
    knobs_->setAvailable(QStringLiteral("precision"), precisions);
    connect(knobs_->differences(), &widgets::DiffList::keyResetRequested, lab_, &Lab::resetKey);
}

void MainWindow::connectStack() {
    connect(stack_, &widgets::StackView::normToggled, lab_, &Lab::setNorm);
    connect(stack_, &widgets::StackView::layersEdited, lab_, &Lab::setLayers);
    connect(stack_, &widgets::StackView::layerHovered, grid_, &PanelGrid::showLayer);
    connect(stack_, &widgets::StackView::layerSelected, this,
            [this](int layer) { lab_->selectLayer(layer); });
}

void MainWindow::connectTransport() {
    connect(transport_, &widgets::TransportBar::play, lab_, &Lab::play);
    connect(transport_, &widgets::TransportBar::pause, lab_, &Lab::pause);
    connect(transport_, &widgets::TransportBar::singleStep, lab_, &Lab::singleStep);
    connect(transport_, &widgets::TransportBar::scrubbed, lab_, &Lab::setStep);
    connect(transport_, &widgets::TransportBar::measureHere, lab_, &Lab::measureHere);
    connect(transport_, &widgets::TransportBar::forkHere, lab_, &Lab::forkSelected);
    connect(transport_, &widgets::TransportBar::startNewRun, lab_, &Lab::startAsNewRun);
    connect(transport_->device(), &widgets::DeviceButton::deviceChosen, this, &MainWindow::chooseDevice);
    connect(transport_->device(), &widgets::DeviceButton::menuOpens, lab_, &Lab::findDevices);
}

void MainWindow::showRibbons() {
    const widgets::RunGroups& groups = lab_->groups();
    stack_->setRibbons(widgets::gradientRibbons(lab_->panelInput("gradients", {}), groups),
                       groups.groupOf(static_cast<std::size_t>(lab_->selectedRun())));
}

}  // namespace normscope::app
