// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/glyph.h"

#include <QPushButton>
#include <optional>

namespace normscope::widgets {

/// A button of the window's bars: a glyph, a text and a muted note at its right end, which names its key. A
/// menu is marked with a caret. Neutral in every look: hue belongs to the runs.
class BarButton : public QPushButton {
    Q_OBJECT
  public:
    enum class Look { Flat, Outlined, Dashed, Solid };
    static constexpr int kCompactWidth = 30;

    BarButton(const QString& text, Look look, QWidget* parent = nullptr);
    void setGlyph(Glyph glyph);
    std::optional<Glyph> glyph() const { return glyph_; }
    void setNote(const QString& note);
    void setLabel(const QString& text);
    /// Only its glyph is shown; the label is its accessible name.
    void setCompact(bool compact);
    bool isCompact() const { return compact_; }
    int fullWidth() const { return widthFor(label_); }  ///< while it is not compact
    int widthFor(const QString& label) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void showLabel();
    void paintBox(QPainter& painter, const QColor& ink) const;

    Look look_;
    QString label_, note_;
    std::optional<Glyph> glyph_;
    bool compact_ = false;
};

}  // namespace normscope::widgets
