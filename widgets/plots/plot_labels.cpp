// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_labels.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/geometry/label_spread.h"
#include "widgets/plots/labels_inside.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

constexpr int kAlwaysFit = 10;  // names at the right of the lowest plot of the window

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
    wanted.reserve(labels.size());
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
