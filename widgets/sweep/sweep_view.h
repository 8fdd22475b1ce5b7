// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"
#include "widgets/sweep/sweep_detail.h"

#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;

namespace normscope::widgets {

class PlotView;
struct Theme;

/// The map of a sweep, over the area of the panels: the map, the final loss over the columns' key, and the
/// marked cells. Follows the sweep while it is trained.
class SweepView : public QWidget {
    Q_OBJECT
  public:
    /// The most runs that are added to the comparison at a time.
    static constexpr std::size_t kMaxOpened = 24;

    explicit SweepView(QWidget* parent = nullptr);

    /// Another sweep is on screen; null: none. It must live, at its place, until the next call.
    void setSweep(const ShownSweep* sweep);
    /// The rows of the sweep have changed: they are drawn a few times a second.
    void updateSweep();
    /// The runs of the comparison.
    void setRuns(std::vector<RecordedRun> runs);

    void setTheme(const Theme& theme);
    PlotView* map() const { return map_; }
    PlotView* curves() const { return curves_; }
    SweepDetail* detail() const { return detail_; }
    /// The plot that exports act on: the one with the focus, else the map.
    PlotView* currentPlot() const;
    const std::optional<SweepCells>& marked() const { return marked_; }
    SweepValue value() const { return value_; }
    void setValue(SweepValue value);
    /// Shows a scalar of the recordings, which are read first.
    void setScalar(const SweepScalar& scalar);

    /// Marks cells (rows from above) and requests their runs.
    void open(const SweepCells& cells);
    /// Requests the runs of the framed cells.
    void openBest();

  Q_SIGNALS:
    /// These recordings are to be added to the comparison.
    void runsRequested(const QStringList& recordings);
    /// This scalar is to be read from the recordings of the sweep; nullopt: none.
    void scalarRequested(const std::optional<normscope::SweepScalar>& scalar);
    void problem(const QString& line);  ///< what is not added, one line
    void closed();
    void exportRequested(normscope::widgets::PlotView* plot);
    void csvRequested(normscope::widgets::PlotView* plot);
    void copyRequested(normscope::widgets::PlotView* plot);
    void helpRequested(normscope::widgets::PlotView* plot);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* headerOf(PlotView* plot, QLabel*& title, QLabel*& subtitle, bool of_map);
    void applySweep();
    void fillAxes();
    void refresh();  ///< deferred while hidden
    void addRuns(const std::vector<std::size_t>& runs);
    /// A menu of the scalars that the sweep's recordings have.
    void chooseScalar();
    void showValue();

    const ShownSweep* sweep_ = nullptr;
    QLabel *title_, *subtitle_, *curves_title_, *curves_subtitle_, *empty_;
    QComboBox* colour_;
    QHBoxLayout* further_;  ///< a choice for each key that is neither row nor column
    std::vector<QWidget*> choices_;
    PlotView *map_, *curves_;
    SweepDetail* detail_;
    QString folder_;
    SweepAxes axes_;
    SweepSlice slice_;
    SweepValue value_ = SweepValue::FinalLoss;
    std::optional<SweepCells> marked_;
    Throttle later_;
};

}  // namespace normscope::widgets
