// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// The marked cells of a map: what became of their runs, in words, and the loss and gradients of those that
/// are in the comparison, in the colours that they have there.
class SweepDetail : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kWidth = 340;

    explicit SweepDetail(Lab& lab, QWidget* parent = nullptr);

    /// Null: nothing is marked, or no sweep is on screen.
    void show(const widgets::SweepSlice* slice, const std::optional<widgets::SweepCells>& cells);
    void setTheme(const widgets::Theme& theme);
    QString text() const;
    widgets::PlotView* loss() const { return loss_; }
    widgets::PlotView* gradients() const { return gradients_; }

  Q_SIGNALS:
    void panelsRequested();

  private:
    /// `by_seed`: they differ in their seeds alone, and are named after them.
    void drawRuns(const QStringList& recordings, bool by_seed);

    struct Drawn {
        std::shared_ptr<RunData> data;
        std::size_t rows = 0;
        int place = 0;
        bool operator==(const Drawn&) const = default;
    };
    std::optional<std::vector<Drawn>> drawn_;  ///< the runs of the shown figures

    Lab& lab_;
    QLabel *title_, *text_, *loss_title_, *gradients_title_;
    widgets::PlotView *loss_, *gradients_;
    widgets::BarButton* panels_;
};

}  // namespace normscope::app
