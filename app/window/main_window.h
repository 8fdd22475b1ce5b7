// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "widgets/figures/knobs/recipe_diff.h"

#include <QMainWindow>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <string>

class QStackedWidget;

namespace normscope {
struct Preset;
}

namespace normscope::widgets {
class HelpDrawer;
class KnobPanel;
class RunStrip;
class SideRail;
class PlotView;
class StackView;
class TransportBar;
struct Figure;
struct PlotViewState;
}  // namespace normscope::widgets

namespace normscope::app {

class Banner;
class FindingsBand;
class KeptState;
class Lab;
class PanelCell;
class PanelGrid;
class Presentation;
class Pulse;
class StoryGuide;
class StoryStrip;
class ClaimsController;
class GalleryController;
class RecordingsController;
class WatchController;
class SweepController;

/// "71.2 of 79.1 GiB free".
QString freeMemoryText(const DeviceMemory& memory);

/// The title that its file gives a story.
QString storyTitle(const Preset& story);

/// What is compared: the file of the session or the runs, in ever shorter texts: "Pre-LN | Post-LN", "2
/// runs".
QStringList comparisonNames(const Lab& lab);

/// A file name for the session of these runs: "Pre-LN - Post-LN.h5".
QString sessionFileName(const Lab& lab);

/// The one window. Connects the signals of the widgets to the lab and those of the lab to the widgets;
/// contains no logic.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `recordings_folder`: where runs are recorded live; `threads` of the engine, 0 = all cores but one;
    /// `backend`: the device of trainings, empty = that of the settings.
    MainWindow(const QString& recordings_folder, int threads, const QString& backend = {});
    ~MainWindow() override;

    Lab* lab() const { return lab_; }
    PanelGrid* grid() const { return grid_; }
    widgets::HelpDrawer* help() const { return help_; }
    RecordingsController* recordings() const { return recordings_; }
    WatchController* watch() const { return watch_; }
    Banner* banner() const { return banner_; }
    StoryStrip* story() const { return story_; }
    Presentation* presentation() const { return presentation_; }
    /// Loads the runs of a story (its file name) into the comparison and shows its first sentence.
    void tellStory(const QString& name);
    widgets::StackView* stack() const { return stack_; }
    bool isDark() const { return dark_; }
    void setDark(bool dark);
    /// Sets the theme from the command line: an opened session does not change it, the user can.
    void orderTheme(bool dark);
    /// Sets the theme of an opened session.
    void restoreTheme(bool dark);
    /// Three columns and the right rail, for any width.
    void setWide(bool wide);

    void openSession(const QString& path);
    /// Opens a session; asks first if there are unsaved changes or a run is training.
    void askAndOpen(const QString& path);
    /// Writes the session there and remembers the path.
    quint64 saveSession(const QString& path);
    /// From now on the window keeps its state for the next start; restores what the last one kept, unless
    /// `afresh`, and offers interrupted runs.
    void start(bool afresh);
    SweepController* sweeps() const { return sweeps_; }
    ClaimsController* claims() const { return claims_; }
    GalleryController* gallery() const { return gallery_; }
    /// Offers the interrupted runs of a killed process.
    void offerInterrupted();

  public Q_SLOTS:
    void save();
    void saveAs();
    void open();
    void importModel();
    void newComparison();
    void searchCommands();
    void showShortcuts();
    void exportCurrent();
    void saveCsv();
    void copyFigure();
    void copyExperiment();
    /// Replaces the selected run by the recipe on the clipboard, or shows the reason in one line.
    void pasteExperiment();
    void explainCurrent();
    void toggleTheme();
    void togglePresentation();
    void toggleRail();
    void focusCurrent();
    void leaveFocus();
    void addComparison();
    void chooseDevice(const QString& backend);
    /// Opens the menu of devices.
    void showDevices();
    /// Edits the name of the selected run in its chip.
    void renameSelected();
    /// Whether the next start restores the window: a setting.
    void toggleRestoring();
    /// Continues the selected run, which failed or was stopped, on the chosen device.
    void resumeSelected();

  public:
    // Called from the panels' menus; the commands use the current panel.
    void exportPanel(const PanelCell& cell);
    void saveCsvOf(const PanelCell& cell);
    void copyFigureOf(const PanelCell& cell);
    bool isReadToItsEnd();
    void explain(const PanelCell& cell);
    // The same for the plots of a sweep.
    void exportPlot(widgets::PlotView* plot);
    void saveCsvOfPlot(widgets::PlotView* plot);
    void copyPlot(widgets::PlotView* plot);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void buildLayout();
    void connectStrip();
    void connectStories();
    void showStoryAction();
    void connectSweeps();
    void saveCsvAs(const widgets::Figure& figure, const widgets::PlotViewState& view);
    void copyAsFigure(const widgets::Figure& figure, const widgets::PlotViewState& view);
    void connectKnobs();
    void connectStack();
    void connectTransport();
    void showRuns();
    void showKnobs();
    void showNotices();
    void showTransport();
    void showDeviceChoice();
    void offerResumption();
    void offerInterruptedRuns(const QList<InterruptedRun>& found);
    void showRibbons();
    void showTitle();
    void afterOpening(const OpenedSessionPtr& opened);
    void arrangeForSize();
    QString recipeText() const;
    void afterRestoring();
    /// False where the state cannot be kept: the next start restores nothing. `closing`: waits until it is
    /// written.
    bool keepState(bool closing);
    /// Calls `then` at once if nothing would be lost; else asks: save first, discard, or cancel.
    void leaving(const QString& title, std::function<void()> then);
    void saveAndThen(std::function<void()> then);

    QString recordings_folder_;
    Lab* lab_;
    std::vector<widgets::NamedRecipe> presets_;
    PanelGrid* grid_;
    widgets::RunStrip* strip_;
    widgets::StackView* stack_;
    widgets::KnobPanel* knobs_;
    widgets::TransportBar* transport_;
    widgets::SideRail* rail_;
    Banner* banner_;
    widgets::HelpDrawer* help_;
    StoryStrip* story_;
    StoryGuide* guide_;
    Presentation* presentation_;
    Pulse* pulse_;
    FindingsBand* findings_;
    SweepController* sweeps_;
    RecordingsController* recordings_;
    WatchController* watch_;
    ClaimsController* claims_;
    GalleryController* gallery_;
    QStackedWidget *upper_, *area_;  ///< findings or those of a sweep; panels or the map of a sweep
    QWidget* left_;
    std::map<quint64, std::function<void()>> after_saving_;  ///< by the token of the save
    std::unique_ptr<KeptState> kept_;                        ///< null: the state is not kept
    std::string kept_text_;                                  ///< as written last
    std::string restoring_view_;                             ///< to be applied to the restored runs
    QTimer keep_later_;
    bool may_close_ = false;
    bool dark_ = false, theme_ordered_ = false, wide_by_hand_ = false;
    QTimer show_later_;       ///< limits the update rate of the bars during training
    QTimer show_runs_later_;  ///< and that of chips, knobs and stack during a drag
};

}  // namespace normscope::app
