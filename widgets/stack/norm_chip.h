// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/stack/norm_override.h"

#include <QAbstractButton>

class QPen;

namespace normscope::widgets {

/// The outline of what a sub-layer could have and has not.
QPen absentPen(const QColor& colour);

/// One norm of one sub-layer: filled where it is placed, a dashed outline where it is not, an outline in the
/// colour of overrides and a corner dot where it is overridden. A click emits a request and does not change
/// the chip.
class NormChip : public QAbstractButton {
    Q_OBJECT
  public:
    explicit NormChip(QWidget* parent = nullptr);

    void setNorm(int layer, Sublayer kind, NormPlace place, bool on, bool overridden);
    int layer() const { return layer_; }
    Sublayer sublayer() const { return kind_; }
    NormPlace place() const { return place_; }
    bool isOverridden() const { return overridden_; }

    QSize sizeHint() const override { return {36, 17}; }

  Q_SIGNALS:
    /// `all_layers`: Shift was held.
    void toggleRequested(bool all_layers);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void nextCheckState() override {}  // set from the recipe, not by the click

  private:
    int layer_ = -1;
    Sublayer kind_ = Sublayer::Attention;
    NormPlace place_ = NormPlace::In;
    bool overridden_ = false;
    bool shift_ = false;
};

}  // namespace normscope::widgets
