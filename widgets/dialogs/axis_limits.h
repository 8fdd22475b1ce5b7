// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"
#include "widgets/figures/view_state.h"

#include <QWidget>
#include <array>

class QLineEdit;

namespace normscope::widgets {

/// The limits of the axes of a figure's first plot: four fields, in the axes' units. An empty one keeps what
/// the figure has. Plots with the same x axis follow it.
class AxisLimits : public QWidget {
    Q_OBJECT
  public:
    /// `view`: the zoom and the scales that the figure is shown with. A map has no limits to set.
    AxisLimits(const Figure& figure, const PlotViewState& view, QWidget* parent);

    bool available() const { return available_; }
    /// The view with the limits that are set.
    PlotViewState applied() const;
    /// Why they cannot be applied, in one line: "y: from 3 to 1 is no range"; empty if they can.
    QString problem() const;

  Q_SIGNALS:
    void changed();

  private:
    struct Axis {
        QString name;
        Scale scale = Scale::Linear;
        Range now;  ///< without fields
        QLineEdit *from = nullptr, *to = nullptr;
    };
    /// Nullopt where both fields are empty.
    static std::optional<Range> rangeOf(const Axis& axis);

    PlotViewState view_;
    std::vector<std::size_t> sharing_x_;  ///< plots, the first included
    std::array<Axis, 2> axes_;            ///< x, y
    bool available_ = false;
};

}  // namespace normscope::widgets
