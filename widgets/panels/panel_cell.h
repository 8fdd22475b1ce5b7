// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/panels/figure_source.h"
#include "widgets/plots/plot_view.h"

#include <QFrame>
#include <map>
#include <optional>
#include <string>

class QLabel;
class QMenu;
class QToolButton;

namespace normscope::widgets {

/// One cell of the grid: a panel with its menus above its plot. Asks its source for the panel's figure on
/// refresh(), and only while visible.
class PanelCell : public QFrame {
    Q_OBJECT
  public:
    PanelCell(const FigureSource& source, const std::string& panel, QWidget* parent = nullptr);

    const std::string& panel() const { return panel_; }
    void setPanel(const std::string& panel);
    const PanelOptions& options() const { return options_.at(panel_); }
    void setOptions(const PanelOptions& options);
    PlotView* plot() const { return plot_; }
    /// Zoom and log switches by panel, also of panels that this cell showed before.
    const std::map<std::string, PlotViewState>& views() const { return views_; }
    void setViews(const std::map<std::string, PlotViewState>& views);

    /// Of header and plot, in px. From 18 px on the header has no buttons except the panel's menu.
    void setTextSizes(int text_px, double line_px);

    /// Rebuilds the figure if any of its inputs has changed; deferred while hidden.
    void refresh();
    /// The CSV of what is shown.
    QByteArray csv() const;

  Q_SIGNALS:
    void panelChanged();
    void focusRequested();
    void helpRequested();
    void exportRequested();
    void csvRequested();
    void copyRequested();
    void layerPicked(int layer, int head);  ///< in a heat map over layers and heads
    void stepPicked(qint64 step);           ///< in a heat map over steps
    void measureRequested();                ///< of the shown step, which lacks a sample
    // The stages of a new figure, one after the other.
    void figureAsked();
    void figureBuilt();
    void figureShown();

  protected:
    void showEvent(QShowEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void draw(FigureKey key);
    void setTypes();
    bool quantityFits();
    void elideSubtitle();
    void placeTools();
    /// Shown while the mouse is over the panel or the header has the focus.
    void showTools();
    /// Of a heat map.
    void pickCell(int row_index, int column_index, int plot);
    void fillPanelMenu();
    void fillOptionsMenu();

    const FigureSource& source_;
    std::string panel_;
    std::map<std::string, PanelOptions> options_;
    std::map<std::string, PlotViewState> views_;
    bool dirty_ = true;
    std::optional<FigureKey> drawn_;  ///< the inputs of the shown figure
    Throttle later_;
    QWidget *header_, *tools_;
    QToolButton *menu_, *options_button_;
    QToolButton* measure_;  ///< shown where the figure is of another step than the one asked for
    bool large_ = false;    ///< text of 18 px or more
    QMenu *panel_menu_, *options_menu_;
    QLabel* subtitle_;
    QString full_subtitle_;
    QString quantity_;           ///< of y, for the header; empty where the figure names it itself
    bool has_steps_ = false;     ///< the figure can be scrubbed: it may need the button
    bool quantity_fits_ = true;  ///< in the header; else it is above its axis
    PlotView* plot_;
};

}  // namespace normscope::widgets
