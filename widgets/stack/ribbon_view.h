// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/groups/ribbon.h"
#include "widgets/stack/ribbon_shape.h"

#include <QWidget>

namespace normscope::widgets {

/// ‖∂L/∂h‖ through all layers, a vertical ribbon each run or group, the embedding at the bottom: the selected
/// one in full strength, the others lighter. Where not all fit, the selected one is among those shown. A
/// frame marks the layers in view; dragging it, or a click next to it, asks for other ones.
class RibbonView : public QWidget {
    Q_OBJECT
  public:
    explicit RibbonView(QWidget* parent = nullptr);

    void setDepth(int depth);  ///< of the selected stack
    void setRibbons(const std::vector<Ribbon>& ribbons, std::size_t selected);
    void setInView(int first, int last);  ///< layers from 0
    void setHoveredLayer(int layer);      ///< −1 = none

    /// Layers of the axis: those of the deepest stack.
    int depth() const;
    /// Indices of the ribbons that fit.
    std::vector<std::size_t> shown() const;
    double column(std::size_t place) const;  ///< x of the middle of the ribbon shown at this place
    double y(double layer) const;            ///< of the output of a layer from 1; 0 = the embedding
    QRectF frame() const;

  Q_SIGNALS:
    /// Asks that the view begins with this layer (from 0, any number).
    void firstAsked(double layer);
    void layerHovered(int layer);  ///< −1 when the pointer leaves or is at the embedding

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    QRectF area() const;
    double layerAt(double y) const;  ///< the inverse of y()
    int outputAt(double y) const;    ///< the layer from 0 whose output is nearest; −1: the embedding
    QString tipAt(double y) const;
    void paintLabels(QPainter& painter) const;

    std::vector<Ribbon> ribbons_;
    std::size_t selected_ = 0;
    int depth_ = 1, first_ = 0, last_ = 0, hovered_ = -1;
    bool dragged_ = false;
    double grip_ = 0;  ///< layers from the frame's lower end to the pointer that drags it
};

}  // namespace normscope::widgets
