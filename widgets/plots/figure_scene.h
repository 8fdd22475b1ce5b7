// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/chart_frame.h"
#include "widgets/plots/figure_layout.h"

#include <QGraphicsScene>
#include <memory>
#include <vector>

namespace normscope::widgets {

/// One figure as a scene: a Qt chart per plot for the frame, one item above them for everything else. Screen
/// and export render this same scene, at another size and in another style.
class FigureScene : public QGraphicsScene {
    Q_OBJECT
  public:
    explicit FigureScene(QObject* parent = nullptr);
    ~FigureScene() override;

    /// Lays the figure out and shows it; called on every frame.
    void setFigure(const Figure& figure, const QSizeF& size, const RenderStyle& style);
    const FigureLayout& layout() const { return layout_; }
    const RenderStyle& style() const { return style_; }

    /// Paints the whole scene, its background included, 1:1 in the painter's coordinates.
    void paint(QPainter& painter);

  private:
    class Content;

    FigureLayout layout_;
    RenderStyle style_;
    std::vector<ChartFrame> frames_;
    Content* content_;
};

}  // namespace normscope::widgets
