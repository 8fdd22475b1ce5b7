// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"
#include "widgets/stack/stack_layout.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace normscope::widgets {

class NormChip;

/// The stack as a diagram: embedding at the bottom, the layers with their norms, final norm and head on top.
/// A chip switches a norm; the layers can be coloured by a measured quantity. Keyboard: Up and Down move over
/// the sub-layers, PageUp and PageDown over the layers, Home and End to the ends; I, O, P switch the selected
/// sub-layer's norms (with Shift in all layers); A edits its factors a and b, Delete resets the overrides of
/// the layer (with Shift of all), and the menu key opens the menu.
class StackView : public QWidget {
    Q_OBJECT
  public:
    explicit StackView(QWidget* parent = nullptr);

    /// The setters send no signal.
    void setSpec(const StackSpec& spec);
    /// One value per layer and its label ("RMS at step 40"), coloured by cividis, on a log scale where all
    /// finite values are positive. An empty list removes the colours.
    void setLayerValues(std::vector<double> values, const QString& label);
    void setHoveredLayer(int layer);  ///< from 0; −1 = none
    void select(int layer, Sublayer kind);
    int selectedLayer() const { return layer_; }
    Sublayer selectedSublayer() const { return kind_; }
    const StackLayout& stackLayout() const { return layout_; }
    /// The chip of a norm of a layer drawn in full, else nullptr.
    NormChip* chip(int layer, Sublayer kind, NormPlace place) const;
    /// The colour of a layer's value (NaN: the colour of bad numbers); invalid where there is none.
    QColor layerColour(int layer) const;

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
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    static QString keyText(double value);
    void rebuild();
    void showChips();
    void pick(int layer, Sublayer kind);
    void hover(int layer);
    void toggle(NormPlace place, bool all_layers);
    void editFactors();
    void resetOverrides(bool all_layers);
    Sublayer sublayerAt(int layer, double y) const;
    QString tipAt(const QPointF& at) const;
    void paintEnd(QPainter& painter, const QRectF& rect, const QString& text) const;
    void paintLayer(QPainter& painter, int layer) const;
    void paintThin(QPainter& painter, const StackLayout::Part& part) const;
    void paintKey(QPainter& painter) const;

    StackSpec spec_;
    StackLayout layout_;
    std::vector<NormChip*>
        chips_;  ///< six for each full layer, in the order of the layout; hidden spares at the end
    std::vector<double> values_;
    QString values_label_;
    double low_ = 0, high_ = 0;  ///< of the finite values
    bool log_ = false, flat_ = true;  ///< flat: the key has the same text at both ends
    int layer_ = 0, hovered_ = -1;
    Sublayer kind_ = Sublayer::Attention;
};

}  // namespace normscope::widgets
