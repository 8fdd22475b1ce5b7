// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/figure_source.h"

#include <QObject>

class QWidget;

namespace normscope::app {

class Lab;
class PanelGrid;

/// Connects the grid of panels to the lab: the cells' figures are of its runs, what is picked in them is
/// selected, and what they show is measured.
class PanelsController : public QObject, public FigureSource {
    Q_OBJECT
  public:
    /// Makes the grid, a child of `parent`.
    PanelsController(Lab& lab, QWidget* parent);

    PanelGrid* grid() const { return grid_; }
    widgets::FigureKey figureKey(const std::string& panel,
                                 const widgets::PanelOptions& options) const override;
    widgets::Figure figure(const std::string& panel, const widgets::PanelOptions& options) const override;

  private:
    Lab& lab_;
    PanelGrid* grid_;
};

}  // namespace normscope::app
