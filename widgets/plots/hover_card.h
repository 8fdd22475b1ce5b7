// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/hover.h"
#include "widgets/plots/theme.h"

#include <QWidget>
#include <vector>

namespace normscope::widgets {

/// The card next to the mouse. A child of the plot, transparent to the mouse; never has the focus.
class HoverCard : public QWidget {
    Q_OBJECT
  public:
    explicit HoverCard(QWidget* parent);

    /// Shows the lines next to `position` (parent coordinates), inside the parent; hides when there are none.
    void showLines(std::vector<HoverLine> lines, const QPoint& position, const RenderStyle& style);
    /// The card as plain text, a line each.
    QString text() const;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    std::vector<HoverLine> lines_;
    RenderStyle style_;
};

}  // namespace normscope::widgets
