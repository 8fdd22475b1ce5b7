// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_labels.h"

#include "widgets/plots/clip.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/label_spread.h"
#include "widgets/plots/occupancy.h"

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

constexpr int kAlwaysFit = 10;  // names at the right of the lowest plot of the window

QString moreText(int count) {
    return QStringLiteral("+ %1 more").arg(count);
}

QColor translucent(QColor colour) {
    colour.setAlphaF(0.85F);
    return colour;
}

bool isLabelled(const Curve& curve) {
    return curve.label_at_end && !curve.name.isEmpty();
}

QString endText(const Curve& curve) {
    return curve.end_value.isEmpty() ? curve.name : curve.name + u' ' + curve.end_value;
}

/// With the widest digit for each: the plot keeps its width while a value changes.
double steadyWidth(const QString& text, const QFontMetricsF& metrics) {
    QChar widest = u'0';
    for (char16_t digit = u'1'; digit <= u'9'; ++digit)
        if (metrics.horizontalAdvance(QChar(digit)) > metrics.horizontalAdvance(widest))
            widest = QChar(digit);
    QString wide = text;
    for (QChar& c : wide)
        if (c.isDigit()) c = widest;
    return metrics.horizontalAdvance(wide);
}

/// Of a line whose name is placed at it: paper has the names of all lines in one column.
bool isNamedInside(const ReferenceLine& line, const RenderStyle& style) {
    return line.inside && !style.texts_outside;
}

/// Names are placed right of the plot, at the height where their line ends, moved apart to avoid overlap.
void addEndLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout) {
    const double right = space.right;
    const QRectF& area = layout.area;
    const double gap = 6 * style.unit, height = textSize(QStringLiteral("X"), Font::Small, style).height();
    struct Label {
        QString text;
        QPointF end;
        QColor colour;
    };
    std::vector<Label> labels;
    const auto add = [&](const QString& text, const QPointF& end, const QColor& colour) {
        if (!(end.y() >= area.top() && end.y() <= area.bottom())) return;
        labels.push_back({text, end, readable(colour, style.theme.background)});
    };
    if (style.legend == LegendPlace::Direct) {
        for (const auto& curve : plot.curves) {
            const bool ghost = isUnderlaid(curve.kind);
            if (isLabelled(curve))
                add(endText(curve), lastVisiblePoint(curve, layout),
                    ghost ? style.theme.muted : style.theme.colour(curve.role));
        }
    }
    if (style.legend == LegendPlace::Direct) {
        for (const auto& stems : plot.stems) {
            QPointF end(kNaN, kNaN);
            for (std::size_t i = std::min(stems.x.size(), stems.y.size()); i-- > 0 && std::isnan(end.y());) {
                end = QPointF(layout.x.toPixel(stems.x[i]), layout.y.toPixel(stems.y[i]));
            }
            if (!stems.name.isEmpty()) add(stems.name, end, style.theme.colour(stems.role));
        }
    }
    const std::size_t names = labels.size();
    for (const auto& line : plot.references) {
        const QPointF end(area.right(), layout.y.toPixel(line.value));
        if (line.orientation == Qt::Horizontal && !line.label.isEmpty() && !isNamedInside(line, style))
            add(line.label, end, style.theme.muted);
    }
    for (const auto& plateau : plot.plateaus) {
        const QPointF end(area.right(), (layout.y.toPixel(plateau.low) + layout.y.toPixel(plateau.high)) / 2);
        if (!plateau.label.isEmpty()) add(plateau.label, end, style.theme.colour(plateau.role));
    }
    const auto fit = static_cast<std::size_t>(std::max(1.0, (area.height() + height) / height));
    if (labels.size() > fit && space.outside) space.outside->names_do_not_fit = true;
    if (labels.size() > fit && !space.outside && names > 0) {  // the last line counts the rest
        const std::size_t omitted = std::min(names, labels.size() - fit + 1);
        const auto after = labels.begin() + static_cast<std::ptrdiff_t>(names);
        labels.erase(after - static_cast<std::ptrdiff_t>(omitted), after);
        labels.push_back(
            {QStringLiteral("+ %1 more").arg(omitted), {area.left(), area.bottom()}, style.theme.muted});
    }
    std::vector<double> wanted;
    for (const Label& label : labels) wanted.push_back(label.end.y());
    const auto at = spreadLabels(wanted, height, area.top() - height / 2, area.bottom() + height / 2);
    const QFontMetricsF metrics(style.small);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const QRectF rect(area.right() + gap, at[i] - height / 2, std::max(0.0, right - area.right() - gap),
                          height);
        const QString text = metrics.elidedText(labels[i].text, Qt::ElideRight, rect.width());
        if (space.outside && text != labels[i].text) space.outside->names_do_not_fit = true;
        layout.texts.push_back(
            {rect, Qt::AlignLeft | Qt::AlignVCenter, text, labels[i].colour, Font::Small, {}});
        // A leader connects a moved label to its line.
        const bool far = std::abs(at[i] - labels[i].end.y()) > height / 2;
        if (far && labels[i].end.x() > area.right() - 4 * gap) {
            layout.over.push_back({{QLineF(labels[i].end, {rect.left() - style.unit, at[i]})},
                                   labels[i].colour,
                                   0.6 * style.thin,
                                   {}});
        }
    }
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

/// End marks: inside, next to the last point, where the label covers least of the other curves.
void addEndMarkLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space,
                      PlotLayout& layout) {
    const QRectF& area = layout.area;
    const double height = textSize(QStringLiteral("X"), Font::Small, style).height();
    const QFontMetricsF metrics(style.small);
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
        double least = covered({left, best, width, tall}, layout);
        const bool free = least == 0;
        for (double top = area.top(); !free && top <= lowest; top += height / 2) {
            const double here = covered({left, top, width, tall}, layout);
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

/// At the line, as far up as nothing is covered.
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

/// Above or below their lines, at the first place from the right end on that covers nothing; where there is
/// none, a little farther from the line; else where least is covered.
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
        if (!row.isNull() && width <= row.width()) {
            shape.rect = QRectF(left ? row.left() : row.right() - width, row.top(), width, row.height());
            left ? row.setLeft(row.left() + width) : row.setRight(row.right() - width);
            if (!left) right_rows[top ? 0 : 1].push_back(layout.texts.size());
            layout.texts.push_back(shape);
        } else if (space.outside) {
            space.outside->take({chip.text, chip.role});
        } else {
            inside.add(chip.edge, std::move(shape));
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

/// The runs with marks, ascending: the rows of the lane.
std::vector<int> runsInLane(const Plot& plot) {
    std::vector<int> runs;
    for (const auto& mark : plot.frame_marks) runs.push_back(mark.role.run);
    std::sort(runs.begin(), runs.end());
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    return runs;
}

void addFrameMarks(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout) {
    const QRectF& lane = space.lane;
    const double height = textSize(QStringLiteral("X"), Font::Small, style).height();
    if (!lane.isNull()) {
        const double width = textSize(plot.lane_label, Font::Small, style).width() + style.unit;
        if (space.lane_named)
            layout.texts.push_back(
                {QRectF(lane.left() - 6 * style.unit - width, lane.top(), width, lane.height()),
                 Qt::AlignRight | Qt::AlignVCenter,
                 plot.lane_label,
                 style.theme.muted,
                 Font::Small,
                 {}});
        layout.under.push_back(
            {{QLineF(lane.bottomLeft(), lane.bottomRight())}, style.theme.grid, style.thin, {}});
    }
    // A run's marks lie in its row of the lane. Under a plot without one, several runs can mark the same x:
    // the later ones move aside. A mark that its neighbour covers is omitted: elsewhere it would be
    // another's.
    const std::vector<int> runs = runsInLane(plot);
    std::vector<std::pair<double, QRectF>> taken;
    for (const auto& mark : plot.frame_marks) {
        const double x = layout.x.toPixel(mark.x);
        if (!(x >= layout.area.left() - 0.5 && x <= layout.area.right() + 0.5)) continue;
        const double width = textSize(mark.glyph, Font::Small, style).width() + 5 * style.unit;
        const double row =
            static_cast<double>(std::find(runs.begin(), runs.end(), mark.role.run) - runs.begin());
        const double top = lane.isNull()
                               ? layout.area.bottom() - height
                               : lane.center().y() + (row - static_cast<double>(runs.size()) / 2) * height;
        QRectF rect(x - width / 2, top, width, height);
        const auto covers = [&](const auto& other) { return other.second.intersects(rect); };
        auto other = std::find_if(taken.begin(), taken.end(), covers);
        for (; other != taken.end() && other->first == x;
             other = std::find_if(taken.begin(), taken.end(), covers))
            rect.translate(width, 0);
        if (other != taken.end()) continue;
        taken.emplace_back(x, rect);
        layout.texts.push_back(
            {rect, Qt::AlignCenter, mark.glyph, style.theme.colour(mark.role), Font::Small, {}});
    }
}

}  // namespace

void OutsideTexts::take(const Note& note) {
    const auto same = [&](const Note& other) { return other.text == note.text; };
    if (std::none_of(notes.begin(), notes.end(), same) && std::none_of(fresh.begin(), fresh.end(), same))
        fresh.push_back(note);
}

const QFont& fontOf(Font font, const RenderStyle& style) {
    return font == Font::Text ? style.text : font == Font::Small ? style.small : style.title;
}

QSizeF textSize(const QString& text, Font font, const RenderStyle& style) {
    const QFontMetricsF metrics(fontOf(font, style));
    return {metrics.horizontalAdvance(text), metrics.height()};
}

double endLabelWidth(const Plot& plot, const RenderStyle& style) {
    const QFontMetricsF metrics(style.small);
    double widest = 0;
    const auto add = [&](const QString& text) {
        if (!text.isEmpty()) widest = std::max(widest, metrics.horizontalAdvance(text) + 8 * style.unit);
    };
    int names = 0;
    for (const auto& curve : plot.curves) {
        if (!isLabelled(curve) || style.legend != LegendPlace::Direct) continue;
        if (curve.end_value.isEmpty())
            add(curve.name);
        else
            widest = std::max(widest, steadyWidth(endText(curve), metrics) + 8 * style.unit);
        ++names;
    }
    if (names > kAlwaysFit) add(moreText(names));
    for (const auto& stems : plot.stems) {
        if (style.legend == LegendPlace::Direct) add(stems.name);
    }
    for (const auto& line : plot.references) {
        if (line.orientation == Qt::Horizontal && !isNamedInside(line, style)) add(line.label);
    }
    for (const auto& plateau : plot.plateaus) add(plateau.label);
    return widest;
}

int laneRows(const Plot& plot) {
    return std::max(1, static_cast<int>(runsInLane(plot).size()));
}

void addLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout) {
    if (space.names) addEndLabels(plot, style, space, layout);
    addEndMarkLabels(plot, style, space, layout);
    addVerticalNames(plot, style, space, layout);
    addInsideNames(plot, style, layout);
    addChips(plot, style, space, layout);
    addFrameMarks(plot, style, space, layout);
}

}  // namespace normscope::widgets
