// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"
#include "widgets/figures/view_state.h"
#include "widgets/plots/figure_scene.h"
#include "widgets/plots/hover.h"
#include "widgets/plots/hover_card.h"

#include <QGraphicsView>
#include <QPixmap>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace normscope::widgets {

/// Shows one Figure with zoom and hover. Interface thread only.
///
/// Mouse: drag a box to zoom, Ctrl+wheel zooms at the mouse, double-click on a plot resets, double-click
/// elsewhere requests the focus view; a plain wheel event is passed to the parent. Keys: X, Y switch log (Y
/// acts on the plot under the mouse, else on the first), Left/Right move the crosshair, Home resets, Ctrl+C
/// copies the card, ? requests help, F the focus view. Until zoomed, the axes follow the data. In a map the
/// arrows move from cell to cell, and Enter is a click on the cell.
class PlotView : public QGraphicsView {
    Q_OBJECT
  public:
    explicit PlotView(QWidget* parent = nullptr);
    ~PlotView() override;

    /// Shows this figure from now on; never null. Zoom, log switches and the hovered point are kept. A hidden
    /// view lays out only when it is shown.
    void setFigure(std::shared_ptr<const Figure> figure);
    const std::shared_ptr<const Figure>& figure() const { return figure_; }
    /// The figure as shown: view state and frozen ranges applied.
    const Figure& shownFigure() const { return *shown_; }

    void setTheme(const Theme& theme);
    /// Text and line size, e.g. 13 and 1.5, or 24 and 3 in presentation mode.
    void setSizes(int text_px, double line_px);
    /// Off where the window shows the title.
    void setTitleShown(bool shown);
    /// On: a drag, or Shift with the arrows and Enter, marks a rectangle of cells of a map (cellsMarked).
    void setCellsMarkable(bool markable) { cells_markable_ = markable; }

    /// Small changes of the size, as while the window's edge is dragged, call this, and layOutResized() is
    /// called back: until then the old image is shown. Without it, and after other changes, they are laid out
    /// at once.
    void setResizedLater(std::function<void()> later) { resized_later_ = std::move(later); }
    /// Lays out what was resized since; else does nothing.
    void layOutResized();

    /// While frozen (a knob is dragged) the ranges do not change; they follow the data again on release.
    void setAxesFrozen(bool frozen);

    const PlotViewState& viewState() const { return view_state_; }
    void setViewState(const PlotViewState& state);
    void resetView();

    /// Draws the linked crosshair at this data x in every plot that shows it; nullopt removes it.
    void setCrosshair(std::optional<double> x);

    /// What is drawn, for tests and export previews.
    const FigureLayout& figureLayout() const { return scene_.layout(); }
    QString hoverText() const { return card_->isVisible() ? card_->text() : QString(); }

    QSize sizeHint() const override { return {500, 350}; }
    QSize minimumSizeHint() const override { return {160, 120}; }

  Q_SIGNALS:
    void hovered(const normscope::widgets::HoverPoint& point);
    void left();
    void viewStateChanged();
    void focusRequested();
    void helpRequested();
    void cellClicked(int row, int column, int plot);
    /// Both corners are inside; rows are counted from below.
    void cellsMarked(int first_row, int first_column, int last_row, int last_column, int plot);

  protected:
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    class Overlay;
    enum class Along { X, Y };

    void rebuild();
    void keepImage(double ratio);
    void changeView(PlotViewState state);
    void zoom(std::size_t plot, std::optional<Range> x, std::optional<Range> y);
    void toggleLog(Along along);
    void moveHover(int direction);
    void moveCell(int right, int up, bool extend);
    void markTo(const HoverPoint& corner);
    void endMarking();
    void setHover(std::optional<HoverPoint> point);
    void showHover();
    PlotAxesView& axesView(PlotViewState& state, std::size_t plot) const;
    bool isMap(int plot) const;

    std::shared_ptr<const Figure> figure_;
    std::shared_ptr<const Figure> shown_;
    RenderStyle style_;
    PlotViewState view_state_;
    std::optional<PlotViewState> frozen_;  ///< ranges to keep while axes are frozen
    bool rebuilt_frozen_ = false;          ///< with these ranges: without them the figure may differ
    bool dirty_ = true;
    std::function<void()> resized_later_;
    bool resized_ = false;  ///< since the figure was laid out

    FigureScene scene_;
    enum class Kept { Nothing, Painted, Image } stored_ = Kept::Nothing;  ///< of the shown figure
    QPixmap image_;
    std::unique_ptr<Overlay> overlay_;
    HoverCard* card_;
    std::optional<HoverPoint> hover_;
    QPoint hover_position_;
    bool mouse_inside_ = false;
    std::optional<double> crosshair_;
    bool cells_markable_ = false;
    std::optional<HoverPoint> marked_from_, marked_to_;  ///< corners of the marked cells
    int pressed_plot_ = -1;
    QPoint pressed_at_;
};

}  // namespace normscope::widgets
