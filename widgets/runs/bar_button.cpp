// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/bar_button.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QPainter>

namespace normscope::widgets {
namespace {

constexpr int kBarButtonHeight = 28, kBarButtonPad = 10, kFlatPad = 6, kBarButtonGlyph = 14,
              kBarButtonGap = 6, kNoteGap = 12, kCaret = 10;
constexpr double kBarButtonRadius = 6;

int widthOf(const QFont& font, const QString& text) {
    return QFontMetrics(font).horizontalAdvance(text) + 1;
}

}  // namespace

BarButton::BarButton(const QString& text, Look look, QWidget* parent) : QPushButton(parent), look_(look) {
    setFont(sized(font(), 12, look == Look::Solid ? QFont::DemiBold : QFont::Normal));
    setFocusPolicy(Qt::TabFocus);
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setLabel(text);
}

void BarButton::setGlyph(Glyph glyph) {
    if (glyph == glyph_) return;
    glyph_ = glyph;
    updateGeometry();
    update();
}

void BarButton::setNote(const QString& note) {
    note_ = note;
    updateGeometry();
    update();
}

void BarButton::setLabel(const QString& text) {
    if (text == label_) return;
    label_ = text;
    showLabel();
}

void BarButton::showLabel() {
    setText(compact_ ? QString() : label_);
    setAccessibleName(label_);
    updateGeometry();
}

void BarButton::setCompact(bool compact) {
    if (compact == compact_) return;
    compact_ = compact;
    showLabel();
}

QSize BarButton::sizeHint() const {
    return {compact_ ? kCompactWidth : fullWidth(), kBarButtonHeight};
}

int BarButton::widthFor(const QString& label) const {
    int width = 2 * (look_ == Look::Flat ? kFlatPad : kBarButtonPad) + widthOf(font(), label);
    if (glyph_) width += kBarButtonGlyph + kBarButtonGap;
    if (!note_.isEmpty()) width += kNoteGap + widthOf(sized(font(), 12), note_);
    if (menu()) width += kBarButtonGap + kCaret;
    return width;
}

bool BarButton::event(QEvent* event) {
    if (keepsSpace(this, event)) {
        event->accept();
        return true;
    }
    return QPushButton::event(event);
}

void BarButton::paintBox(QPainter& painter, const QColor& ink) const {
    const Theme theme = themeOf(palette());
    const QColor window = palette().color(QPalette::Window);
    const bool active = isEnabled() && (underMouse() || isDown());
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool solid = look_ == Look::Solid && isEnabled();
    const bool outlined = look_ == Look::Outlined || (look_ == Look::Solid && !isEnabled());
    QColor fill = outlined ? theme.background : QColor(Qt::transparent);
    if (active) fill = blend(window, theme.text, isDown() ? 0.14 : 0.07);
    if (solid) {
        fill = palette().color(QPalette::Highlight);
        if (active) fill = blend(fill, palette().color(QPalette::HighlightedText), isDown() ? 0.25 : 0.12);
    }
    painter.setBrush(fill);
    if (outlined || look_ == Look::Dashed)
        painter.setPen(QPen(theme.neutral, 1, look_ == Look::Dashed ? Qt::DashLine : Qt::SolidLine));
    else
        painter.setPen(Qt::NoPen);
    painter.drawRoundedRect(box, kBarButtonRadius, kBarButtonRadius);
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ink, 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(2, 2, -2, -2), kBarButtonRadius - 2,
                            kBarButtonRadius - 2);
}

void BarButton::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto group = isEnabled() ? QPalette::Active : QPalette::Disabled;
    const bool solid = look_ == Look::Solid && isEnabled();  // what it does nothing for now is outlined
    const QColor ink = palette().color(group, solid ? QPalette::HighlightedText : QPalette::ButtonText);
    const QColor muted = solid ? blend(ink, palette().color(QPalette::Highlight), 0.25)
                               : palette().color(QPalette::PlaceholderText);
    paintBox(painter, ink);
    if (compact_) {
        if (glyph_)
            paintGlyph(painter,
                       QRectF((width() - kBarButtonGlyph) / 2.0, (height() - kBarButtonGlyph) / 2.0,
                              kBarButtonGlyph, kBarButtonGlyph),
                       *glyph_, ink);
        return;
    }
    int left = look_ == Look::Flat ? kFlatPad : kBarButtonPad, right = width() - left;
    const double middle = height() / 2.0;
    const auto write = [&](int from, int to, Qt::Alignment side, const QString& text) {
        painter.drawText(QRect(from, 0, to - from, height()), Qt::AlignVCenter | side, text);
    };
    if (glyph_) {
        paintGlyph(painter, QRectF(left, middle - kBarButtonGlyph / 2.0, kBarButtonGlyph, kBarButtonGlyph),
                   *glyph_, ink);
        left += kBarButtonGlyph + kBarButtonGap;
    }
    if (menu()) {
        right -= kCaret;
        paintGlyph(painter, QRectF(right, middle - kCaret / 2.0, kCaret, kCaret), Glyph::Caret, muted);
    }
    painter.setPen(ink);
    write(left, right, Qt::AlignLeft, text());
    if (note_.isEmpty() || fullWidth() > width()) return;  // the label comes first
    painter.setFont(sized(font(), 12));
    painter.setPen(muted);
    write(left, right, Qt::AlignRight, note_);
}

}  // namespace normscope::widgets
