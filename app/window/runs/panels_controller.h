// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/figure_source.h"

#include <QObject>

class QWidget;

namespace normscope::widgets {
class PanelCell;
class PanelGrid;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// Connects the grid of panels to the lab: the cells' figures are of its runs, what is picked in them is
/// selected, and what they show is measured.
class PanelsController : public QObject, public widgets::FigureSource {
    Q_OBJECT
  public:
    /// Makes the grid, a child of `parent`.
    PanelsController(Lab& lab, QWidget* parent);

    widgets::PanelGrid* grid() const { return grid_; }
    /// Shows a panel with these options, its others as they are: in the visible cell that has it, else in the
    /// current one.
    widgets::PanelCell* showPanel(const std::string& panel, const widgets::PanelOptions& options);
    /// The same at a step, with the focus there. `quantity`: its option of that name; empty: as it is.
    void showPlot(const QString& panel, const QString& quantity, qint64 step);
    widgets::FigureKey figureKey(const std::string& panel,
                                 const widgets::PanelOptions& options) const override;
    widgets::Figure figure(const std::string& panel, const widgets::PanelOptions& options) const override;

  private:
    Lab& lab_;
    widgets::PanelGrid* grid_;
};

}  // namespace normscope::app
