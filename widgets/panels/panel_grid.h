// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel_cell.h"

#include <QWidget>
#include <vector>

namespace normscope::app {

/// The centre of the window: 2 × 2 or 3 × 2 panels, or one of them alone. Links the crosshairs and passes the
/// probes shown to the lab.
class PanelGrid : public QWidget {
    Q_OBJECT
  public:
    explicit PanelGrid(Lab& lab, QWidget* parent = nullptr);

    /// Three columns instead of two.
    void setWide(bool wide);
    bool isWide() const { return wide_; }
    const std::vector<PanelCell*>& cells() const { return cells_; }
    std::vector<PanelCell*> visibleCells() const;
    /// The cell that fills the centre, -1 for the grid.
    int focusedCell() const { return focused_; }
    void focusCell(int index);
    /// The cell that commands act on: the one that fills the centre, has the focus, is under the mouse, or
    /// the first.
    PanelCell* currentCell() const;

    void setTheme(const widgets::Theme& theme);
    void setTextSizes(int text_px, double line_px);
    /// A layer of the stack, from 0, or -1.
    void showLayer(int layer);

  Q_SIGNALS:
    void layerHovered(int layer);  ///< -1: none
    void helpRequested(normscope::app::PanelCell* cell);
    void exportRequested(normscope::app::PanelCell* cell);
    void csvRequested(normscope::app::PanelCell* cell);
    void copyRequested(normscope::app::PanelCell* cell);

  private:
    void arrange();
    void reportProbes();
    void shareCrosshair(PanelCell* from, std::optional<double> x);

    Lab& lab_;
    std::vector<PanelCell*> cells_;
    bool wide_ = false;
    int focused_ = -1;
};

}  // namespace normscope::app
