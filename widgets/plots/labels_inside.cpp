// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/labels_inside.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/geometry/clip.h"
#include "widgets/plots/occupancy.h"

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

QColor translucent(QColor colour) {
    colour.setAlphaF(0.85F);
    return colour;
}

/// A text in as few lines as the width allows, elided only where a single line does not fit.
QStringList wrapped(const QString& text, const QFontMetricsF& metrics, double width) {
    QStringList rows;
    for (const QString& word : text.split(u' ')) {
        const QString longer = rows.isEmpty() ? word : rows.last() + u' ' + word;
        if (rows.isEmpty() || metrics.horizontalAdvance(longer) > width)
            rows << word;
        else
            rows.last() = longer;
    }
    for (QString& row : rows) row = metrics.elidedText(row, Qt::ElideRight, width);
    return rows;
}

/// How much of what is drawn a label here would cover: segments and points of curves, and other labels many
/// times as much.
double covered(const QRectF& rect, const PlotLayout& layout) {
    double count = 0;
    for (const auto& curve : layout.curves) {
        for (const QPointF& dot : curve.dots) count += rect.contains(dot);
        for (const auto& piece : curve.pieces)
            for (qsizetype i = 1; i < piece.size(); ++i)
                count += clipLine(QLineF(piece[i - 1], piece[i]), rect).has_value();
    }
    for (const TextShape& text : layout.texts) count += text.rect.intersects(rect) ? 1e6 : 0;
    return count;
}

constexpr double kCell = 3;  // of the grid on which free places are searched, in units

/// What a text here would cover: squares under curves and dots, and other texts many times as much.
double covered(const QRectF& rect, const Occupancy& curves, const PlotLayout& layout) {
    double count = curves.covered(rect);
    for (const TextShape& text : layout.texts) count += text.rect.intersects(rect) ? 1e6 : 0;
    return count;
}

/// The other reference lines through a rectangle.
int linesThrough(const QRectF& rect, const Plot& plot, const ReferenceLine& own, const PlotLayout& layout) {
    return static_cast<int>(
        std::count_if(plot.references.begin(), plot.references.end(), [&](const ReferenceLine& line) {
            if (&line == &own) return false;
            if (line.orientation == Qt::Vertical) {
                const double x = layout.x.toPixel(line.value);
                return x > rect.left() && x < rect.right();
            }
            const double y = layout.y.toPixel(line.value);
            return y > rect.top() && y < rect.bottom();
        }));
}

/// Chips inside the plot, from its corners on, on at most half of its height; the last line counts the rest.
class StackedChips {
  public:
    StackedChips(const RenderStyle& style, PlotLayout& layout)
        : style_(style),
          layout_(layout),
          height_(textSize(QStringLiteral("X"), Font::Small, style).height()) {}
    void add(Chip::Edge edge, TextShape shape) {
        Corner& corner = corners_[static_cast<std::size_t>(edge)];
        if (corner.used > 0 && corner.used + 2 * height_ > layout_.area.height() / 2)
            ++corner.omitted;
        else
            place(edge, std::move(shape));
    }
    void countTheRest() {
        for (const Chip::Edge edge :
             {Chip::Edge::TopLeft, Chip::Edge::TopRight, Chip::Edge::BottomLeft, Chip::Edge::BottomRight})
            if (const int more = corners_[static_cast<std::size_t>(edge)].omitted; more > 0)
                place(edge, {{}, Qt::AlignCenter, moreText(more), style_.theme.muted, Font::Small, {}});
    }

  private:
    struct Corner {
        double used = 0;
        int omitted = 0;
    };

    void place(Chip::Edge edge, TextShape shape) {
        double& used = corners_[static_cast<std::size_t>(edge)].used;
        const double gap = 5 * style_.unit;
        const QRectF area = layout_.area.adjusted(gap, gap, -gap, -gap);
        const double width =
            std::min(textSize(shape.text, Font::Small, style_).width() + 2 * gap, area.width());
        const bool left = edge == Chip::Edge::TopLeft || edge == Chip::Edge::BottomLeft;
        const bool top = edge == Chip::Edge::TopLeft || edge == Chip::Edge::TopRight;
        shape.rect = QRectF(left ? area.left() : area.right() - width,
                            top ? area.top() + used : area.bottom() - used - height_, width, height_);
        moveWhereLeastIsCovered(shape.rect, area);
        shape.text = QFontMetricsF(style_.small).elidedText(shape.text, Qt::ElideRight, width);
        shape.background = translucent(style_.theme.background);
        used += height_;
        layout_.texts.push_back(std::move(shape));
    }

    /// From its corner on, row by row and at either side: the first place that covers no curve, dot or text.
    void moveWhereLeastIsCovered(QRectF& rect, const QRectF& area) const {
        const Occupancy curves(layout_, kCell * style_.unit);
        const QRectF wanted = rect;
        double least = covered(wanted, curves, layout_);
        const int rows = static_cast<int>(area.height() / (height_ / 2)) - 1;
        for (int row = 0; row < rows && least > 0; ++row)
            for (const double left : {wanted.left(), area.left() + area.right() - wanted.right()}) {
                const bool downwards = wanted.center().y() < area.center().y();
                const double top =
                    downwards ? area.top() + row * height_ / 2 : area.bottom() - height_ - row * height_ / 2;
                const QRectF here(left, top, wanted.width(), wanted.height());
                if (const double count = covered(here, curves, layout_); count < least)
                    rect = here, least = count;
            }
    }

    const RenderStyle& style_;
    PlotLayout& layout_;
    double height_;
    std::array<Corner, 4> corners_{};
};

/// As near to the centre as a text of this size covers no curve, text or line; null where there is no place.
QRectF freePlaceInTheMiddle(const QSizeF& size, const Plot& plot, const RenderStyle& style,
                            const PlotLayout& layout) {
    const Occupancy curves(layout, kCell * style.unit);
    const ReferenceLine none;
    QRectF rect(QPointF(), size);
    const double step = size.height() / 2, gap = 3 * style.unit;
    for (double away = 0; away < layout.area.height() / 2; away += step)
        for (const double y : {-away, away}) {
            rect.moveCenter(layout.area.center() + QPointF(0, y));
            const QRectF padded = rect.adjusted(-gap, -gap, gap, gap);
            if (layout.area.contains(padded) && covered(padded, curves, layout) == 0 &&
                linesThrough(padded, plot, none, layout) == 0)
                return rect;
        }
    return {};
}

}  // namespace

QString moreText(int count) {
    return QStringLiteral("+ %1 more").arg(count);
}

bool isNamedInside(const ReferenceLine& line, const RenderStyle& style) {
    return line.inside && !style.texts_outside;
}

void addEndMarkLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space,
                      PlotLayout& layout) {
    const QRectF& area = layout.area;
    const double height = textSize(QStringLiteral("X"), Font::Small, style).height();
    const QFontMetricsF metrics(style.small);
    // Paper is exact; on screen many runs may end, each with a label at many heights.
    std::optional<Occupancy> curves;
    const auto coveredAt = [&](const QRectF& rect) {
        if (style.texts_outside) return covered(rect, layout);
        if (!curves) curves.emplace(layout, kCell * style.unit);
        return covered(rect, *curves, layout);
    };
    for (const auto& curve : plot.curves) {
        const QPointF end = lastVisiblePoint(curve, layout);
        if (curve.end.kind == EndMark::Kind::None || curve.end.label.isEmpty() || std::isnan(end.y()))
            continue;
        const QString glyph = curve.end.kind == EndMark::Kind::Diverged    ? QStringLiteral("✕ ")
                              : curve.end.kind == EndMark::Kind::Collapsed ? QStringLiteral("↓ ")
                                                                           : QStringLiteral("▬ ");
        const double gap = 6 * style.unit, right_of_end = area.right() - end.x() - 2 * gap;
        const double widest =
            std::min(std::max(right_of_end, area.width() / 2), area.width() - 4 * style.unit);
        const QStringList rows = wrapped(glyph + curve.end.label, metrics, widest);
        double width = 0;
        for (const QString& row : rows)
            width = std::max(width, textSize(row, Font::Small, style).width() + 4 * style.unit);
        const double tall = height * static_cast<double>(rows.size());
        const double left =
            std::clamp(end.x() + gap, area.left(), std::max(area.left(), area.right() - width));
        // Above the end, unless another height covers less; of two equal ones the nearer.
        const double wanted = end.y() - gap - tall, lowest = std::max(area.top(), area.bottom() - tall);
        double best = std::clamp(wanted, area.top(), lowest);
        double least = coveredAt({left, best, width, tall});
        const bool free = least == 0;
        for (double top = area.top(); !free && top <= lowest; top += height / 2) {
            const double here = coveredAt({left, top, width, tall});
            if (here < least || (here == least && std::abs(top - wanted) < std::abs(best - wanted)))
                best = top, least = here;
        }
        if (space.outside && least > 0) {
            const QString named =
                curve.name.isEmpty() ? curve.end.label : curve.name + ": " + curve.end.label;
            space.outside->take({named, curve.role});
            continue;
        }
        const int flags =
            static_cast<int>(rows.size() == 1 ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
        for (qsizetype i = 0; i < rows.size(); ++i)
            layout.texts.push_back({QRectF(left, best + height * static_cast<double>(i), width, height),
                                    flags, rows[i], style.theme.colour(curve.role), Font::Small,
                                    translucent(style.theme.background)});
    }
}

void addVerticalNames(const Plot& plot, const RenderStyle& style, const LabelSpace& space,
                      PlotLayout& layout) {
    const QRectF& area = layout.area;
    for (const auto& line : plot.references) {
        const double x = layout.x.toPixel(line.value);
        if (line.orientation != Qt::Vertical || line.label.isEmpty() ||
            !(x >= area.left() && x <= area.right()))
            continue;
        const QSizeF size = textSize(line.label, Font::Small, style);
        const bool fits = x + size.width() + 4 * style.unit < area.right();
        const double left = fits ? x + 3 * style.unit : x - size.width() - 3 * style.unit;
        QRectF rect({left, area.top()}, size);
        if (space.outside) {
            while (covered(rect, layout) > 0 && rect.bottom() + size.height() / 2 <= area.bottom())
                rect.translate(0, size.height() / 2);
            if (covered(rect, layout) > 0) {
                space.outside->take({line.label, {}});
                continue;
            }
        }
        layout.texts.push_back({rect, Qt::AlignLeft | Qt::AlignTop, line.label, style.theme.muted,
                                Font::Small, translucent(style.theme.background)});
    }
}

void addInsideNames(const Plot& plot, const RenderStyle& style, PlotLayout& layout) {
    constexpr int kPlaces = 12;  // along the line
    const QRectF& area = layout.area;
    std::optional<Occupancy> curves;
    for (const ReferenceLine& line : plot.references) {
        const double y = layout.y.toPixel(line.value);
        if (line.orientation != Qt::Horizontal || line.label.isEmpty() || !isNamedInside(line, style) ||
            !(y >= area.top() && y <= area.bottom()))
            continue;
        if (!curves) curves.emplace(layout, kCell * style.unit);
        const QSizeF size = textSize(line.label, Font::Small, style);
        const double gap = 4 * style.unit, rightmost = area.right() - gap - size.width();
        QRectF best;
        double least = std::numeric_limits<double>::infinity();
        const auto attempt = [&](double left, double top) {
            const QRectF rect({left, top}, size);
            if (least == 0 || !area.contains(rect)) return;
            const double count = covered(rect, *curves, layout) + linesThrough(rect, plot, line, layout);
            if (count < least) best = rect, least = count;
        };
        for (const double away : {0.0, 0.5, 1.0})  // rows
            for (int place = 0; place < kPlaces; ++place) {
                const double left = rightmost - (rightmost - area.left() - gap) * place / (kPlaces - 1);
                attempt(left, y - (1 + away) * size.height());
                attempt(left, y + 1 + away * size.height());
            }
        if (!best.isNull())
            layout.texts.push_back({best, Qt::AlignLeft | Qt::AlignVCenter, line.label, style.theme.muted,
                                    Font::Small, translucent(style.theme.background)});
    }
}

void addChips(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout) {
    const double gap = 5 * style.unit;
    QRectF above = space.above, below_left = space.below_left,
           below_right = space.below_right;  // the remaining space
    StackedChips inside(style, layout);
    std::vector<std::size_t>
        right_rows[2];  // the chips at the right of the rows above and below, as they come
    for (const auto& chip : plot.chips) {
        const bool left = chip.edge == Chip::Edge::TopLeft || chip.edge == Chip::Edge::BottomLeft;
        const bool top = chip.edge == Chip::Edge::TopLeft || chip.edge == Chip::Edge::TopRight;
        const QSizeF size = textSize(chip.text, Font::Small, style);
        TextShape shape{{},          Qt::AlignCenter,
                        chip.text,   chip.role ? style.theme.colour(*chip.role) : style.theme.muted,
                        Font::Small, {}};
        shape.colour = readable(shape.colour, style.theme.background);
        QRectF& row = top ? above : left ? below_left : below_right;
        const double width = size.width() + 2 * gap;
        if (chip.edge == Chip::Edge::Middle && !space.outside) {
            shape.rect = freePlaceInTheMiddle({width, size.height()}, plot, style, layout);
            if (!shape.rect.isNull()) {
                layout.texts.push_back(shape);
                continue;
            }
        }
        if (!row.isNull() && width <= row.width()) {
            shape.rect = QRectF(left ? row.left() : row.right() - width, row.top(), width, row.height());
            left ? row.setLeft(row.left() + width) : row.setRight(row.right() - width);
            if (!left) right_rows[top ? 0 : 1].push_back(layout.texts.size());
            layout.texts.push_back(shape);
        } else if (space.outside) {
            space.outside->take({chip.text, chip.role});
        } else {
            inside.add(chip.edge == Chip::Edge::Middle ? Chip::Edge::TopLeft : chip.edge, std::move(shape));
        }
    }
    inside.countTheRest();
    for (const auto& chips : right_rows) {  // placed right to left: now reversed into reading order
        if (chips.empty()) continue;
        double x = layout.texts[chips.back()].rect.left();
        for (const std::size_t i : chips) {
            layout.texts[i].rect.moveLeft(x);
            x = layout.texts[i].rect.right();
        }
    }
}

}  // namespace normscope::widgets
