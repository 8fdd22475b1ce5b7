// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/collisions.h"

#include "widgets/plots/geometry/clip.h"
#include "widgets/plots/plot_labels.h"

#include <QFontMetricsF>
#include <algorithm>

namespace normscope::widgets {
namespace {

struct Box {
    QRectF rect;
    QString text;
};

/// The ink of a text: its advance, capitals to descenders.
QRectF inkOf(const QRectF& rect, int flags, const QString& text, const QFont& font) {
    const QFontMetricsF metrics(font);
    if (flags & Qt::TextWordWrap) return metrics.boundingRect(rect, flags, text);
    const double width = metrics.horizontalAdvance(text);
    const double left = flags & Qt::AlignHCenter ? rect.center().x() - width / 2
                        : flags & Qt::AlignRight ? rect.right() - width
                                                 : rect.left();
    const double height = metrics.height();
    const double top = flags & Qt::AlignTop      ? rect.top()
                       : flags & Qt::AlignBottom ? rect.bottom() - height
                                                 : rect.center().y() - height / 2;
    const double baseline = top + metrics.ascent();
    return {left, baseline - metrics.capHeight(), width, metrics.capHeight() + metrics.descent() / 2};
}

std::vector<Box> boxesIn(const FigureLayout& layout, const RenderStyle& style) {
    std::vector<Box> boxes;
    const auto add = [&](const TextShape& t) {
        if (!t.text.isEmpty())
            boxes.push_back({inkOf(t.rect, t.flags, t.text, fontOf(t.font, style)), t.text});
    };
    for (const TextShape& text : layout.texts) add(text);
    for (const PlotLayout& plot : layout.plots) {
        for (const TextShape& text : plot.texts) add(text);
        for (const auto* ticks : {&plot.x_ticks, &plot.y_ticks})
            for (const TickShape& tick : *ticks)
                if (!tick.label_rect.isNull())
                    boxes.push_back({inkOf(tick.label_rect, Qt::AlignCenter, tick.tick.label, style.small),
                                     tick.tick.label});
    }
    return boxes;
}

bool coversCurve(const QRectF& rect, const FigureLayout& layout) {
    for (const PlotLayout& plot : layout.plots)
        for (const CurveShape& curve : plot.curves) {
            if (std::any_of(curve.dots.begin(), curve.dots.end(),
                            [&](const QPointF& dot) { return rect.contains(dot); }))
                return true;
            for (const QPolygonF& piece : curve.pieces)
                for (qsizetype i = 1; i < piece.size(); ++i)
                    if (clipLine(QLineF(piece[i - 1], piece[i]), rect)) return true;
        }
    return false;
}

}  // namespace

std::vector<Collision> collisionsIn(const FigureLayout& layout, const RenderStyle& style) {
    using Kind = Collision::Kind;
    std::vector<Collision> found;
    const QRectF page = QRectF(QPointF(), layout.size).adjusted(-0.01, -0.01, 0.01, 0.01);
    const std::vector<Box> boxes = boxesIn(layout, style);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box& box = boxes[i];
        if (!page.contains(box.rect)) found.push_back({Kind::OffPage, box.rect, box.text, {}});
        if (box.text.endsWith(u'…')) found.push_back({Kind::Elided, box.rect, box.text, {}});
        if (coversCurve(box.rect, layout)) found.push_back({Kind::TextOnCurve, box.rect, box.text, {}});
        for (std::size_t k = 0; k < i; ++k)
            if (box.rect.intersects(boxes[k].rect))
                found.push_back({Kind::TextOnText, box.rect, box.text, boxes[k].text});
    }
    return found;
}

QStringList collisionTexts(const std::vector<Collision>& collisions) {
    QStringList texts;
    for (const Collision& c : collisions) {
        const QString text = u'"' + c.text + u'"';
        switch (c.kind) {
            case Collision::Kind::TextOnText:
                texts << text + " overlaps \"" + c.other + u'"';
                break;
            case Collision::Kind::TextOnCurve:
                texts << text + " covers a curve";
                break;
            case Collision::Kind::OffPage:
                texts << text + " leaves the page";
                break;
            case Collision::Kind::Elided:
                texts << text + " is cut short";
                break;
        }
    }
    return texts;
}

}  // namespace normscope::widgets
