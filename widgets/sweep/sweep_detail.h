// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/sweep/shown_sweep.h"
#include "widgets/figures/sweep/sweep_figure.h"

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

class QLabel;

namespace normscope {
struct RunData;
}

namespace normscope::widgets {

class BarButton;
class PlotView;
struct Theme;

/// A run of the comparison that is recorded.
struct RecordedRun {
    QString recording;                    ///< its file
    std::shared_ptr<const RunData> data;  ///< grows while it trains
    int group = 0;                        ///< in the comparison: the colour of its chip
    QString group_name = {};
};

/// The marked cells of a map: what became of their runs, in words, and the loss and gradients of those that
/// are in the comparison, in the colours that they have there.
class SweepDetail : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kWidth = 340;

    explicit SweepDetail(QWidget* parent = nullptr);

    /// `sweep` null: none is on screen; `cells` nullopt: nothing is marked.
    void show(const ShownSweep* sweep, const SweepSlice& slice, const std::optional<SweepCells>& cells);
    /// The runs of the comparison; drawn by the next show().
    void setRuns(std::vector<RecordedRun> runs) { runs_ = std::move(runs); }
    void setTheme(const Theme& theme);
    QString text() const;
    PlotView* loss() const { return loss_; }
    PlotView* gradients() const { return gradients_; }

  Q_SIGNALS:
    void panelsRequested();

  private:
    /// `by_seed`: they differ in their seeds alone, and are named after them; else the seeds of one recipe
    /// are drawn as their median and range.
    void drawRuns(const QStringList& recordings, bool by_seed);

    struct Drawn {
        std::shared_ptr<const RunData> data;
        std::size_t rows = 0;
        int group = 0;
        bool operator==(const Drawn&) const = default;
    };
    std::optional<std::vector<Drawn>> drawn_;  ///< the runs of the shown figures

    std::vector<RecordedRun> runs_;
    QLabel *title_, *text_, *loss_title_, *gradients_title_;
    PlotView *loss_, *gradients_;
    BarButton* panels_;
};

}  // namespace normscope::widgets
