// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

class QStackedWidget;

namespace normscope::widgets {
class Banner;
class FindingsBand;
class HelpDrawer;
class KnobPanel;
class PanelGrid;
class Presentation;
class Pulse;
class RunStrip;
class SideRail;
class StackView;
class StoryStrip;
class SweepBand;
class SweepView;
class TransportBar;
}  // namespace normscope::widgets

namespace normscope::app {

class AppearanceController;
class ClaimsController;
class Commands;
class DifferenceController;
class StepCostController;
class FigureController;
class FilesController;
class FindingsController;
class GalleryController;
class Lab;
class NotesController;
class RecordingsController;
class RunTableController;
class RunsController;
class SearchController;
class StateController;
class PanelsController;
class StoryController;
class SweepController;
class TrainingController;
class WatchController;

/// The views of the window, which owns them.
struct WindowViews {
    widgets::RunStrip* strip = nullptr;
    widgets::StackView* stack = nullptr;
    widgets::KnobPanel* knobs = nullptr;
    widgets::TransportBar* transport = nullptr;
    widgets::PanelGrid* grid = nullptr;
    widgets::SideRail* rail = nullptr;
    widgets::Banner* banner = nullptr;
    widgets::HelpDrawer* help = nullptr;
    widgets::StoryStrip* story = nullptr;
    widgets::Presentation* presentation = nullptr;
    widgets::Pulse* pulse = nullptr;
    widgets::FindingsBand* findings = nullptr;
    widgets::SweepBand* sweep_band = nullptr;
    widgets::SweepView* sweep_map = nullptr;
    QStackedWidget *upper = nullptr, *area = nullptr;  ///< findings or those of a sweep; panels or its map
    QWidget* left = nullptr;                           ///< stack and knobs
    QWidget* hint = nullptr;                           ///< of the basic window
};

/// The one window: builds the laboratory, the views and the controllers that connect them. Contains no logic.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `recordings_folder`: where runs are recorded live; `threads` of the engine, 0 = all cores but one;
    /// `backend`: the device of trainings, empty = that of the settings.
    MainWindow(const QString& recordings_folder, int threads, const QString& backend = {});
    ~MainWindow() override;

    Lab* lab() const { return lab_; }
    const WindowViews& views() const { return views_; }
    FilesController* files() const { return files_; }
    FigureController* figures() const { return figures_; }
    StateController* state() const { return state_; }
    AppearanceController* appearance() const { return appearance_; }
    StoryController* stories() const { return stories_; }
    FindingsController* findings() const { return findings_; }
    RunsController* runs() const { return runs_; }
    TrainingController* training() const { return training_; }
    SweepController* sweeps() const { return sweeps_; }
    RunTableController* runTable() const { return run_table_; }
    DifferenceController* difference() const { return difference_; }
    StepCostController* stepCost() const { return step_cost_; }
    NotesController* notes() const { return notes_; }
    ClaimsController* claims() const { return claims_; }
    GalleryController* gallery() const { return gallery_; }
    RecordingsController* recordings() const { return recordings_; }
    WatchController* watch() const { return watch_; }
    SearchController* search() const { return search_; }
    Commands& commands() const { return *commands_; }

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void buildViews();
    void arrangeViews();
    void buildControllers(const QString& recordings_folder);
    void buildCommands();

    Lab* lab_;
    WindowViews views_;
    FilesController* files_;
    FigureController* figures_;
    StateController* state_;
    AppearanceController* appearance_ = nullptr;
    PanelsController* panels_;
    StoryController* stories_;
    FindingsController* findings_;
    RunsController* runs_;
    TrainingController* training_;
    SweepController* sweeps_;
    RunTableController* run_table_;
    DifferenceController* difference_;
    StepCostController* step_cost_;
    NotesController* notes_;
    ClaimsController* claims_;
    GalleryController* gallery_;
    RecordingsController* recordings_;
    WatchController* watch_;
    SearchController* search_;
    Commands* commands_;
    bool may_close_ = false;
};

}  // namespace normscope::app
