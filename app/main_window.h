// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/io_worker.h"
#include "widgets/knobs/recipe_diff.h"

#include <QMainWindow>
#include <QTimer>
#include <functional>
#include <map>

namespace normscope::widgets {
class KnobPanel;
class RunStrip;
class StackView;
class TransportBar;
}  // namespace normscope::widgets

namespace normscope::app {

class Banner;
class FindingsBand;
class Lab;
class PanelCell;
class PanelGrid;
class SideRail;
class StoryStrip;

/// The one window. It wires: intentions of the widgets to the lab, the lab's signals to the widgets. Nothing
/// is decided here.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `recordings_folder`: where runs are recorded live; `threads` of the engine, 0 = all cores but one.
    MainWindow(const QString& recordings_folder, int threads);
    ~MainWindow() override;

    Lab* lab() const { return lab_; }
    PanelGrid* grid() const { return grid_; }
    Banner* banner() const { return banner_; }
    StoryStrip* story() const { return story_; }
    /// Puts the runs of a story (its file name) into the comparison and shows its first sentence.
    void tellStory(const QString& name);
    widgets::StackView* stack() const { return stack_; }
    bool isDark() const { return dark_; }
    void setDark(bool dark);
    /// As the command line asks: sessions that are opened do not change it, a person's hand does.
    void orderTheme(bool dark);
    /// As an opened session asks.
    void restoreTheme(bool dark);
    /// Three columns and the right rail, whatever the width.
    void setWide(bool wide);

    void openSession(const QString& path);
    /// Asks before unsaved changes or a training under way are left behind, then opens it.
    void askAndOpen(const QString& path);
    /// Writes the session there and remembers the path.
    quint64 saveSession(const QString& path);
    /// Offers runs that a killed program left behind.
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
    /// Replaces the selected run by the recipe on the clipboard, or says in one line why it can not.
    void pasteExperiment();
    void explainCurrent();
    void toggleTheme();
    void togglePresentation();
    void toggleRail();
    void focusCurrent();
    void leaveFocus();
    void addComparison();

  public:
    // What the panels' own menus ask for; the commands do it for the current panel.
    void exportPanel(const PanelCell& cell);
    void saveCsvOf(const PanelCell& cell);
    void copyFigureOf(const PanelCell& cell);
    void explain(const PanelCell& cell);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void buildLayout();
    void connectStrip();
    void connectStories();
    void connectKnobs();
    void connectStack();
    void connectTransport();
    void showRuns();
    void showKnobs();
    void showNotices();
    void showTransport();
    void showStackColours();
    void showTitle();
    void afterOpening(const OpenedSessionPtr& opened);
    void arrangeForSize();
    QString recipeText() const;
    /// Runs `then` at once where nothing is lost by it; else asks: save first, discard, or cancel.
    void leaving(const QString& title, std::function<void()> then);
    void saveAndThen(std::function<void()> then);

    Lab* lab_;
    std::vector<widgets::NamedRecipe> presets_;
    PanelGrid* grid_;
    widgets::RunStrip* strip_;
    widgets::StackView* stack_;
    widgets::KnobPanel* knobs_;
    widgets::TransportBar* transport_;
    SideRail* rail_;
    Banner* banner_;
    StoryStrip* story_;
    FindingsBand* findings_;
    QWidget* left_;
    QString session_path_;
    std::map<quint64, std::function<void()>> after_saving_;  ///< by the token of the save
    bool may_close_ = false;
    bool dark_ = false, theme_ordered_ = false, presenting_ = false, wide_by_hand_ = false;
    QTimer show_later_;  ///< the bars follow a training at a few frames a second
};

}  // namespace normscope::app
