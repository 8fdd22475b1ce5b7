// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel_cell.h"
#include "widgets/panels/resize_queue.h"

#include <QWidget>
#include <vector>

namespace normscope::widgets {

/// The centre of the window: 2 × 2 or 3 × 2 panels, or one of them alone. Links the crosshairs.
class PanelGrid : public QWidget {
    Q_OBJECT
  public:
    explicit PanelGrid(const FigureSource& source, QWidget* parent = nullptr);

    /// Three columns instead of two.
    void setWide(bool wide);
    bool isWide() const { return wide_; }
    /// Two panels, the gradients and the losses, alone.
    void setBasic(bool basic);
    bool isBasic() const { return basic_; }
    const std::vector<PanelCell*>& cells() const { return cells_; }
    std::vector<PanelCell*> visibleCells() const;
    /// The cell that fills the centre, -1 for the grid.
    int focusedCell() const { return focused_; }
    void focusCell(int index);
    /// The cell that commands act on: the one that fills the centre, has the focus, is under the mouse, or
    /// the first.
    PanelCell* currentCell() const;

    /// The probes that the visible cells draw, and those of the stack and the findings, which are always
    /// shown.
    std::vector<std::string> shownProbes() const;
    /// Rebuilds the figures of these panels, or of all, where their inputs have changed.
    void refresh(const QStringList& panels);
    void refreshAll();
    void setAxesFrozen(bool frozen);
    void setTheme(const Theme& theme);
    void setTextSizes(int text_px, double line_px);
    /// A layer of the stack, from 0, or -1.
    void showLayer(int layer);

  Q_SIGNALS:
    void layerHovered(int layer);  ///< -1: none
    void layerPicked(int layer, int head);
    void stepPicked(qint64 step);
    void measureRequested();    ///< of the shown step
    void shownProbesChanged();  ///< before the figures: they depend on what is being measured
    void helpRequested(normscope::widgets::PanelCell* cell);
    void exportRequested(normscope::widgets::PanelCell* cell);
    void csvRequested(normscope::widgets::PanelCell* cell);
    void copyRequested(normscope::widgets::PanelCell* cell);

  private:
    void arrange();
    void shareCrosshair(PanelCell* from, std::optional<double> x);

    ResizeQueue resized_;
    std::vector<PanelCell*> cells_;
    bool wide_ = false, basic_ = false;
    int focused_ = -1;
};

}  // namespace normscope::widgets
