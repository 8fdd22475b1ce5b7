// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <QObject>
#include <optional>

namespace normscope::widgets {
class Banner;
class HelpDrawer;
class PanelCell;
class PanelGrid;
class PlotView;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class SweepController;

/// What leaves the window: figures as files and on the clipboard, their values as CSV, recipes as text; and
/// the help on a figure. A command without an argument acts on the current panel, or on the plot of the sweep
/// where its map is over the panels. Interface thread.
class FigureController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::PanelGrid* grid;
        widgets::HelpDrawer* help;
        widgets::Banner* banner;
    };
    /// `window` is the parent of dialogs.
    FigureController(Lab& lab, SweepController& sweeps, const Views& views, QWidget* window);

    void exportCurrent();
    void saveCurrentCsv();
    void copyCurrent();
    void explainCurrent();
    /// The recipe of the selected run, as text.
    void copyExperiment();
    /// Replaces the selected run by the recipe on the clipboard, or shows the reason in one line.
    void pasteExperiment();
    /// Adds a run of it to the comparison, or the same.
    void pasteAsRun();

  private:
    void exportPanel(const widgets::PanelCell& cell);
    void exportPlot(const widgets::PlotView& plot);
    void saveCsvOf(const widgets::PanelCell& cell);
    void saveCsv(const widgets::PlotView& plot);
    void copyPanel(const widgets::PanelCell& cell);
    void copyPlot(const widgets::PlotView& plot);
    void explain(const widgets::PlotView& plot);
    bool isReadToItsEnd();
    QString recipeText() const;
    std::optional<Recipe> copiedRecipe() const;

    Lab& lab_;
    SweepController& sweeps_;
    const Views views_;
    QWidget* window_;
};

}  // namespace normscope::app
