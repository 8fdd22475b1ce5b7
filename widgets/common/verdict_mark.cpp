// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/verdict_mark.h"

#include "widgets/plots/glyph.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kVerdictMarkSide = 12, kToText = 4, kToNext = 12;  // px, of marked texts

/// A path that is stroked, and a dot that is filled, in a 16 × 16 square.
struct Shape {
    QPainterPath path;
    double dot_y = 8, dot = 0;  ///< its radius
};

Shape shapeOf(VerdictMark mark) {
    Shape shape;
    QPainterPath& path = shape.path;
    switch (mark) {
        case VerdictMark::Waves:
            for (const double y : {5.5, 10.5}) {
                path.moveTo(2.5, y + 1);
                path.cubicTo(5, y - 3, 6.5, y - 1.5, 8, y);
                path.cubicTo(9.5, y + 1.5, 11, y + 3, 13.5, y - 1);
            }
            break;
        case VerdictMark::Die:
            path.addRoundedRect(QRectF(3, 3, 10, 10), 2, 2);
            shape.dot = 2;
            break;
        case VerdictMark::Question:
            path.moveTo(5, 5.5);
            path.cubicTo(5, 1, 11.5, 1.5, 11, 5.5);
            path.cubicTo(10.7, 7.5, 8, 7.3, 8, 9.8);
            shape.dot_y = 13;
            shape.dot = 1.3;
            break;
        case VerdictMark::Interval:
            for (const auto& [from, to] : {std::pair(QPointF(2.5, 8), QPointF(13.5, 8)),
                                           {QPointF(2.5, 5.5), QPointF(2.5, 10.5)},
                                           {QPointF(13.5, 5.5), QPointF(13.5, 10.5)},
                                           {QPointF(8, 2.5), QPointF(8, 13.5)}}) {
                path.moveTo(from);
                path.lineTo(to);
            }
            break;
        default:
            path.addEllipse(QPointF(8, 8), 3, 3);
    }
    return shape;
}

}  // namespace

VerdictMark markOf(const std::optional<ClaimVerdict>& verdict) {
    if (!verdict) return VerdictMark::Ring;
    switch (*verdict) {
        case ClaimVerdict::Holds:
            return VerdictMark::Check;
        case ClaimVerdict::Corrected:
            return VerdictMark::Waves;
        case ClaimVerdict::Fails:
            return VerdictMark::Cross;
        case ClaimVerdict::NotApplicable:
            return VerdictMark::Bar;
        case ClaimVerdict::Toy:
            return VerdictMark::Die;
        case ClaimVerdict::Unknown:
            break;
    }
    return VerdictMark::Question;
}

VerdictMark markOf(GalleryVerdict verdict) {
    switch (verdict) {
        case GalleryVerdict::AsPaper:
            return VerdictMark::Check;
        case GalleryVerdict::Opposite:
            return VerdictMark::Cross;
        case GalleryVerdict::NotSeen:
            return VerdictMark::Interval;
        case GalleryVerdict::Smaller:
            return VerdictMark::Waves;
        case GalleryVerdict::CannotTell:
            return VerdictMark::Question;
        case GalleryVerdict::NotMeasured:
            break;
    }
    return VerdictMark::Ring;
}

void paintMark(QPainter& painter, const QRectF& rect, VerdictMark mark, const QColor& colour) {
    if (mark == VerdictMark::Check) return paintGlyph(painter, rect, Glyph::Check, colour);
    if (mark == VerdictMark::Cross) return paintGlyph(painter, rect, Glyph::Cross, colour);
    if (mark == VerdictMark::Bar) return paintGlyph(painter, rect, Glyph::Bar, colour);
    const Shape shape = shapeOf(mark);
    const double side = std::min(rect.width(), rect.height());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(rect.center() - QPointF(side, side) / 2);
    painter.scale(side / 16, side / 16);
    painter.strokePath(shape.path, QPen(colour, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    if (shape.dot > 0) painter.drawEllipse(QPointF(8, shape.dot_y), shape.dot, shape.dot);
    painter.restore();
}

void paintMarked(QPainter& painter, const QRect& line, const QFont& font,
                 const std::vector<MarkedText>& texts) {
    int x = line.left();
    painter.setFont(font);
    for (const MarkedText& one : texts) {
        paintMark(painter,
                  QRectF(x, line.top() + (line.height() - kVerdictMarkSide) / 2.0, kVerdictMarkSide,
                         kVerdictMarkSide),
                  one.mark, one.colour);
        x += kVerdictMarkSide + kToText;
        painter.setPen(one.colour);
        const int width = QFontMetrics(font).horizontalAdvance(one.text);
        painter.drawText(QRect(x, line.top(), width + 1, line.height()), Qt::AlignVCenter, one.text);
        x += width + kToNext;
    }
}

}  // namespace normscope::widgets
