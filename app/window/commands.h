// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <array>
#include <functional>
#include <initializer_list>
#include <vector>

class QAction;
class QMenu;
class QUndoStack;
class QWidget;

namespace normscope::app {

/// Every command of the window.
enum class Command {
    NewComparison,
    Open,
    OpenElsewhere,
    Recordings,
    ImportModel,
    Save,
    SaveAs,
    ExportFigure,
    SaveCsv,
    Restoring,
    Undo,
    Redo,
    CopyFigure,
    CopyExperiment,
    PasteExperiment,
    PasteAsRun,
    Link,
    Compare,
    AddSeeds,
    GroupSeeds,
    HealthyRuns,
    NoHealthyRuns,
    Pin,
    Fork,
    Rename,
    RemoveRun,
    NextRun,
    Play,
    SingleStep,
    Stop,
    StartNewRuns,
    ReplaceRuns,
    Resume,
    ExplainFailure,
    TryRemedies,
    MeasureHere,
    MeasureAround,
    Watch,
    RaiseEps,
    ProbeCosts,
    Device,
    Focus,
    LeaveFocus,
    Presentation,
    Rail,
    Basic,
    Theme,
    ShowSweep,
    RunTable,
    Difference,
    StepCost,
    Notes,
    Claims,
    Gallery,
    FirstStep,
    PreviousStep,
    NewestStep,
    NewSweep,
    ChooseSweep,
    StopOrResumeSweep,
    StoryNext,
    StoryBack,
    Explain,
    Search,
    Shortcuts,
    Quit,
    kCount
};

/// Where a command is offered besides Ctrl+K. Those of one group are neighbours in the table; a separator
/// divides the groups of one menu.
enum class CommandGroup {
    Sessions,
    Saving,
    Export,
    Restart,
    Undoing,
    Clipboard,
    Linking,
    Comparison,
    Run,
    Training,
    Measuring,
    Layout,
    Over,
    Steps,
    Help,
    Program,
    SweepMenu,  ///< in the menu of sweeps
    NoMenu,     ///< by its key and Ctrl+K alone
};

struct CommandRow {
    Command command;
    CommandGroup group;
    QString text;  ///< a sentence of its own
    QList<QKeySequence> keys;
    std::function<void()> run;  ///< empty for undo and redo, which are the undo stack's
};

/// The window's commands as actions, made from one table: their keys, the window's menu and Ctrl+K are of it.
/// Interface thread.
class Commands : public QObject {
    Q_OBJECT
  public:
    /// Adds the actions to the window, in the order of the table, which has a row for every command.
    Commands(const std::vector<CommandRow>& table, QUndoStack& undo, QWidget& window);

    QAction* operator[](Command command) const { return actions_[static_cast<std::size_t>(command)]; }
    CommandGroup group(Command command) const { return groups_[static_cast<std::size_t>(command)]; }
    /// Adds these to a menu.
    void addTo(QMenu& menu, std::initializer_list<Command> commands) const;
    /// Fills the window's menu: a menu for each of its parts.
    void fill(QMenu& menu);
    /// The actions of the recent files, Ctrl+1 … Ctrl+9, as the settings have them now.
    void updateRecentFiles();

  Q_SIGNALS:
    void recentFileChosen(const QString& path);

  private:
    static constexpr std::size_t kCount = static_cast<std::size_t>(Command::kCount);

    QWidget& window_;
    std::vector<Command> order_;  ///< of the table
    std::array<QAction*, kCount> actions_{};
    std::array<CommandGroup, kCount> groups_{};
    QList<QAction*> recent_;
};

}  // namespace normscope::app
