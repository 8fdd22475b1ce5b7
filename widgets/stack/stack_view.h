// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"
#include "widgets/figures/groups/ribbon.h"
#include "widgets/stack/ribbon_shape.h"
#include "widgets/stack/stack_layout.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace normscope::widgets {

class GlyphButton;
class NormChip;
class RibbonView;

/// The stack as a diagram, output on top: ‖∂L/∂h‖ through all layers as ribbons on the left, next to them the
/// layers in view with their norms, the embedding below and final norm and head above them. The residual
/// stream is as wide as the selected run's gradient at that height. A chip switches a norm. The wheel
/// scrolls. Keyboard: Up and Down move over the sub-layers, PageUp and PageDown over the layers, Home and End
/// to the ends; I, O, P switch the selected sub-layer's norms (with Shift in all layers); A edits its factors
/// a and b, Delete resets the overrides of the layer (with Shift of all), and the menu key opens the menu.
class StackView : public QWidget {
    Q_OBJECT
  public:
    explicit StackView(QWidget* parent = nullptr);

    /// The setters send no signal.
    void setSpec(const StackSpec& spec);
    /// The gradients of the runs or groups, and which of them the stack is of.
    void setRibbons(const std::vector<Ribbon>& ribbons, std::size_t selected);
    void setHoveredLayer(int layer);  ///< from 0; −1 = none
    /// Scrolls the layer into view where it is not.
    void select(int layer, Sublayer kind);
    /// So many layers are below the view (StackLayout::scroll); clamped.
    void scrollTo(int layers);
    int selectedLayer() const { return layer_; }
    Sublayer selectedSublayer() const { return kind_; }
    const StackLayout& stackLayout() const { return layout_; }
    RibbonView* ribbonView() const { return ribbon_view_; }
    /// The chip of a norm of a layer in view, else nullptr.
    NormChip* chip(int layer, Sublayer kind, NormPlace place) const;
    /// Next to the title: "Post-LN, 12 layers", "DeepNorm ×3, median", or the part of it that fits.
    QString subtitle() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    /// Requests a switch of a norm (see withNorm).
    void normToggled(int layer, normscope::Sublayer kind, normscope::widgets::NormPlace place, bool on,
                     bool all_layers);
    /// Requests other overrides ("layers" of the spec); `what` names the change for the undo list.
    void layersEdited(const std::vector<normscope::LayerOverride>& layers, const QString& what);
    void layerHovered(int layer);  ///< −1 when the pointer leaves
    void layerSelected(int layer);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    void arrange();
    void showChips();
    void describe();
    void pick(int layer, Sublayer kind);
    void goTo(int sublayer);
    void reveal();
    void hover(int layer);
    void toggle(NormPlace place, bool all_layers);
    void openMenu(const QPoint& at);
    void editFactors();
    void resetOverrides(bool all_layers);
    Sublayer sublayerAt(int layer, double y) const;
    static QString nameOf(int layer, Sublayer kind);
    /// Name, formula and gradient of a sub-layer.
    QString textOf(int layer, Sublayer kind) const;
    const Ribbon* ribbon() const;
    void paintHeader(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintResidual(QPainter& painter) const;
    void paintBox(QPainter& painter, const QRectF& box, const QString& text) const;
    void paintEnds(QPainter& painter) const;
    void paintBackground(QPainter& painter, int layer) const;
    void paintRow(QPainter& painter, int layer, Sublayer kind) const;
    void paintGate(QPainter& painter, const QPointF& at, bool on) const;
    double subtitleX() const;

    StackSpec spec_;
    StackLayout layout_;
    RibbonView* ribbon_view_;
    GlyphButton* menu_button_;
    std::vector<NormChip*> chips_;  ///< six for each layer in view, from the lowest; hidden spares at the end
    std::vector<Ribbon> ribbons_;
    std::size_t selected_ribbon_ = 0;
    int layer_ = 0, hovered_ = -1;
    Sublayer kind_ = Sublayer::Attention;
    int wheel_ = 0;  ///< eighths of a degree of rotation since the last step
};

}  // namespace normscope::widgets
