// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/fold_title.h"

#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>

namespace normscope::widgets {
namespace {
constexpr int kArrow = 11, kFoldGap = 8, kTitleSize = 12, kSummarySize = 11;
}

FoldTitle::FoldTitle(QWidget* parent) : QToolButton(parent) {
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    QFont type = font();
    type.setPixelSize(kTitleSize);
    setFont(type);
}

void FoldTitle::setSummary(const QString& summary) {
    if (summary == summary_) return;
    summary_ = summary;
    setAccessibleDescription(summary);
    update();
}

void FoldTitle::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (hasFocus() || underMouse()) {
        painter.setPen(hasFocus() ? QPen(theme.text, 1.5) : QPen(Qt::NoPen));
        painter.setBrush(underMouse() ? palette().color(QPalette::Button) : QColor(Qt::transparent));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);
    }
    painter.save();
    painter.translate(kArrow / 2.0 + 1, height() / 2.0);
    if (!isChecked()) painter.rotate(-90);
    paintGlyph(painter, QRectF(-kArrow / 2.0, -kArrow / 2.0, kArrow, kArrow), Glyph::Caret, theme.text);
    painter.restore();
    painter.setPen(theme.text);
    const QRect line = rect().adjusted(kTextLeft, 0, 0, 0);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text());
    QFont small = font();
    small.setPixelSize(kSummarySize);
    const int space = line.width() - fontMetrics().horizontalAdvance(text()) - kFoldGap;
    if (QFontMetrics(small).horizontalAdvance(summary_) > space) return;
    painter.setFont(small);
    painter.setPen(theme.muted);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, summary_);
}

}  // namespace normscope::widgets
