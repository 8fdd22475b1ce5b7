// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/hover_card.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {
constexpr int kPad = 7;
}

HoverCard::HoverCard(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void HoverCard::showLines(std::vector<HoverLine> lines, const QPoint& position, const RenderStyle& style) {
    lines_ = std::move(lines);
    style_ = style;
    if (lines_.empty()) {
        hide();
        return;
    }
    const QFontMetricsF metrics(style_.small);
    double width = 0;
    for (const auto& line : lines_) width = std::max(width, metrics.horizontalAdvance(line.text));
    resize(static_cast<int>(std::ceil(width)) + 2 * kPad,
           static_cast<int>(std::ceil(metrics.height() * static_cast<double>(lines_.size()))) + 2 * kPad);
    // Right of the mouse; left of it where it does not fit; never over the point itself.
    const int gap = 14;
    const QRect bounds = parentWidget()->rect();
    int x = position.x() + gap;
    if (x + this->width() > bounds.right()) x = position.x() - gap - this->width();
    const int y = std::clamp(position.y() + gap, 0, std::max(0, bounds.bottom() - height()));
    move(std::max(0, x), y);
    show();
    raise();
    update();
}

QString HoverCard::text() const {
    QStringList all;
    for (const auto& line : lines_) all.append(line.text);
    return all.join(u'\n');
}

void HoverCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor back = style_.theme.background;
    back.setAlphaF(0.95F);
    painter.setPen(style_.theme.axis);
    painter.setBrush(back);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    painter.setFont(style_.small);
    const double row = QFontMetricsF(style_.small).height();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const auto& line = lines_[i];
        painter.setPen(line.role ? style_.theme.colour(*line.role)
                       : i == 0  ? style_.theme.text
                                 : style_.theme.muted);
        painter.drawText(QRectF(kPad, kPad + static_cast<double>(i) * row, width() - 2 * kPad, row),
                         Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, line.text);
    }
}

}  // namespace normscope::widgets
