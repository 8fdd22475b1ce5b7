// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/sweep/sweep_figure.h"

#include <QTimer>
#include <QWidget>
#include <optional>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;

namespace normscope::widgets {
class PlotView;
struct Theme;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class SweepDetail;

/// The map of a sweep, over the area of the panels: the map, the final loss over the columns' key, and the
/// marked cells. Follows the sweep while it is trained.
class SweepView : public QWidget {
    Q_OBJECT
  public:
    /// The most runs that are added to the comparison at a time.
    static constexpr std::size_t kMostOpened = 24;

    explicit SweepView(Lab& lab, QWidget* parent = nullptr);

    void setTheme(const widgets::Theme& theme);
    widgets::PlotView* map() const { return map_; }
    widgets::PlotView* curves() const { return curves_; }
    SweepDetail* detail() const { return detail_; }
    /// The plot that exports act on: the one with the focus, else the map.
    widgets::PlotView* currentPlot() const;
    const std::optional<widgets::SweepCells>& marked() const { return marked_; }
    widgets::SweepValue value() const { return value_; }
    void setValue(widgets::SweepValue value);
    /// Shows a scalar of the recordings, which are read first.
    void setScalar(const SweepScalar& scalar);

    /// Marks cells (rows from above) and adds their runs to the comparison.
    void open(const widgets::SweepCells& cells);
    /// Adds the runs of the framed cells.
    void openBest();

  Q_SIGNALS:
    void problem(const QString& line);  ///< what is not added, one line
    void closed();
    void exportRequested(normscope::widgets::PlotView* plot);
    void csvRequested(normscope::widgets::PlotView* plot);
    void copyRequested(normscope::widgets::PlotView* plot);
    void helpRequested(normscope::widgets::PlotView* plot);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* headerOf(widgets::PlotView* plot, QLabel*& title, QLabel*& subtitle, bool of_map);
    void takeSweep();
    void fillAxes();
    void refresh();  ///< deferred while hidden
    void addRuns(const std::vector<std::size_t>& runs);
    /// A menu of the scalars that the sweep's recordings have.
    void chooseScalar();
    void showValue();

    Lab& lab_;
    QLabel *title_, *subtitle_, *curves_title_, *curves_subtitle_, *empty_;
    QComboBox* colour_;
    QHBoxLayout* further_;  ///< a choice for each key that is neither row nor column
    std::vector<QWidget*> choices_;
    widgets::PlotView *map_, *curves_;
    SweepDetail* detail_;
    QString folder_;
    widgets::SweepAxes axes_;
    widgets::SweepSlice slice_;
    widgets::SweepValue value_ = widgets::SweepValue::FinalLoss;
    std::optional<widgets::SweepCells> marked_;
    QTimer later_;
};

}  // namespace normscope::app
