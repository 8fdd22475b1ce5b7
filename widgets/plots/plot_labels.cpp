// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_labels.h"

#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/label_spread.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

bool isLabelled(const Curve& curve) {
    return curve.label_at_end && !curve.name.isEmpty();
}

void addEndLabels(const Plot& plot, const RenderStyle& style, double right, PlotLayout& layout) {
    const double gap = 6 * style.unit, height = textSize(QStringLiteral("X"), Font::Small, style).height();
    struct Label {
        const Curve* curve;
        QPointF end;
    };
    std::vector<Label> labels;
    std::vector<double> wanted;
    for (const auto& curve : plot.curves) {
        if (!isLabelled(curve)) continue;
        const QPointF end = lastVisiblePoint(curve, layout);
        if (!std::isfinite(end.y())) continue;
        labels.push_back({&curve, end});
        wanted.push_back(end.y());
    }
    const auto at =
        spreadLabels(wanted, height, layout.area.top() - height / 2, layout.area.bottom() + height / 2);
    const QFontMetricsF metrics(style.small);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const QColor colour = labels[i].curve->kind == LineKind::Ghost
                                  ? style.theme.muted
                                  : style.theme.colour(labels[i].curve->role);
        const QRectF rect(layout.area.right() + gap, at[i] - height / 2, right - layout.area.right() - gap,
                          height);
        layout.texts.push_back({rect,
                                Qt::AlignLeft | Qt::AlignVCenter,
                                metrics.elidedText(labels[i].curve->name, Qt::ElideRight, rect.width()),
                                colour,
                                Font::Small,
                                {}});
        // A leader says which line a moved label belongs to.
        const bool far = std::abs(at[i] - labels[i].end.y()) > height / 2;
        if (far && labels[i].end.x() > layout.area.right() - 2 * gap) {
            layout.over.push_back(
                {{QLineF(labels[i].end, {rect.left() - style.unit, at[i]})}, colour, 0.6 * style.thin, {}});
        }
    }
}

/// Names of horizontal lines and ends of runs stand inside, at the right, and share that edge without
/// overlapping.
void addInnerLabels(const Plot& plot, const RenderStyle& style, PlotLayout& layout) {
    const QRectF& area = layout.area;
    QColor backing = style.theme.plot_background;
    backing.setAlphaF(0.8F);
    std::vector<TextShape> labels;
    std::vector<double> wanted;
    const auto add = [&](const QString& text, double y, const QColor& colour) {
        if (text.isEmpty() || !(y >= area.top() && y <= area.bottom())) return;
        const QSizeF size = textSize(text, Font::Small, style);
        const double width = std::min(size.width() + 4 * style.unit, area.width());
        labels.push_back({QRectF(area.right() - width - 2 * style.unit, 0, width, size.height()),
                          Qt::AlignRight | Qt::AlignVCenter, text, colour, Font::Small, backing});
        wanted.push_back(y - size.height() / 2 - 1.5 * style.unit);
    };
    for (const auto& line : plot.references) {
        if (line.orientation == Qt::Horizontal)
            add(line.label, layout.y.toPixel(line.value), style.theme.muted);
    }
    for (const auto& plateau : plot.plateaus) {
        add(plateau.label, layout.y.toPixel(plateau.high), style.theme.colour(plateau.role));
    }
    for (const auto& curve : plot.curves) {
        if (curve.end.kind == EndMark::Kind::None || curve.end.label.isEmpty()) continue;
        const QString glyph =
            curve.end.kind == EndMark::Kind::Diverged ? QStringLiteral("✕ ") : QStringLiteral("▬ ");
        add(glyph + curve.end.label, lastVisiblePoint(curve, layout).y(), style.theme.colour(curve.role));
    }
    const double height = textSize(QStringLiteral("X"), Font::Small, style).height();
    const auto at = spreadLabels(wanted, height, area.top(), area.bottom());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i].rect.moveTop(at[i] - height / 2);
        layout.texts.push_back(labels[i]);
    }
    for (const auto& line : plot.references) {
        const double x = layout.x.toPixel(line.value);
        if (line.orientation != Qt::Vertical || line.label.isEmpty() ||
            !(x >= area.left() && x <= area.right()))
            continue;
        const QSizeF size = textSize(line.label, Font::Small, style);
        const bool fits = x + size.width() + 4 * style.unit < area.right();
        const double left = fits ? x + 3 * style.unit : x - size.width() - 3 * style.unit;
        layout.texts.push_back({QRectF({left, area.top()}, size), Qt::AlignLeft | Qt::AlignTop, line.label,
                                style.theme.muted, Font::Small, backing});
    }
}

void addChips(const Plot& plot, const RenderStyle& style, PlotLayout& layout) {
    const double gap = 4 * style.unit;
    double used[4] = {gap, gap, gap, gap};
    for (const auto& chip : plot.chips) {
        const QSizeF text = textSize(chip.text, Font::Small, style);
        const double width = std::min(text.width() + 2 * gap, layout.area.width() - 2 * gap),
                     height = text.height() + gap / 2;
        const bool left = chip.edge == Chip::Edge::TopLeft || chip.edge == Chip::Edge::BottomLeft;
        const bool top = chip.edge == Chip::Edge::TopLeft || chip.edge == Chip::Edge::TopRight;
        double& offset = used[static_cast<int>(chip.edge)];
        const double x = left ? layout.area.left() + gap : layout.area.right() - gap - width;
        const double y = top ? layout.area.top() + offset : layout.area.bottom() - offset - height;
        offset += height + gap / 2;
        QColor backing = style.theme.plot_background;
        backing.setAlphaF(0.88F);
        const QFontMetricsF metrics(style.small);
        layout.texts.push_back({QRectF(x, y, width, height), Qt::AlignCenter,
                                metrics.elidedText(chip.text, Qt::ElideRight, width),
                                chip.role ? style.theme.colour(*chip.role) : style.theme.muted, Font::Small,
                                backing});
    }
}

void addFrameMarks(const Plot& plot, const RenderStyle& style, const QRectF& lane, PlotLayout& layout) {
    const double height = textSize(QStringLiteral("X"), Font::Small, style).height();
    if (!lane.isNull()) {
        layout.texts.push_back({QRectF(lane.left() - 60 * style.unit, lane.top(),
                                       60 * style.unit - 6 * style.unit, lane.height()),
                                Qt::AlignRight | Qt::AlignVCenter,
                                plot.lane_label,
                                style.theme.muted,
                                Font::Small,
                                {}});
        layout.under.push_back(
            {{QLineF(lane.bottomLeft(), lane.bottomRight())}, style.theme.grid, style.thin, {}});
    }
    // Several runs can mark the same x: the later ones move aside.
    std::vector<QRectF> taken;
    for (const auto& mark : plot.frame_marks) {
        const double x = layout.x.toPixel(mark.x);
        if (!(x >= layout.area.left() - 0.5 && x <= layout.area.right() + 0.5)) continue;
        const double width = textSize(mark.glyph, Font::Small, style).width() + 2 * style.unit;
        const double top = lane.isNull() ? layout.area.bottom() - height : lane.center().y() - height / 2;
        QRectF rect(x - width / 2, top, width, height);
        while (std::any_of(taken.begin(), taken.end(), [&](const QRectF& r) { return r.intersects(rect); })) {
            rect.translate(width, 0);
        }
        taken.push_back(rect);
        layout.texts.push_back(
            {rect, Qt::AlignCenter, mark.glyph, style.theme.colour(mark.role), Font::Small, {}});
    }
}

}  // namespace

const QFont& fontOf(Font font, const RenderStyle& style) {
    return font == Font::Text ? style.text : font == Font::Small ? style.small : style.title;
}

QSizeF textSize(const QString& text, Font font, const RenderStyle& style) {
    const QFontMetricsF metrics(fontOf(font, style));
    return {metrics.horizontalAdvance(text), metrics.height()};
}

double endLabelWidth(const Plot& plot, const RenderStyle& style) {
    if (style.legend != LegendPlace::Direct) return 0;
    const QFontMetricsF metrics(style.small);
    double widest = 0;
    for (const auto& curve : plot.curves) {
        if (isLabelled(curve))
            widest = std::max(widest, metrics.horizontalAdvance(curve.name) + 8 * style.unit);
    }
    return widest;
}

void addLabels(const Plot& plot, const RenderStyle& style, double right, const QRectF& lane,
               PlotLayout& layout) {
    if (style.legend == LegendPlace::Direct) addEndLabels(plot, style, right, layout);
    addInnerLabels(plot, style, layout);
    addChips(plot, style, layout);
    addFrameMarks(plot, style, lane, layout);
}

}  // namespace normscope::widgets
