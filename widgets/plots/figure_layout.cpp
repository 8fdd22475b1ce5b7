// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/figure_layout.h"

#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/plot_labels.h"
#include "widgets/plots/view_state.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

/// Of the width, right of a plot. A printed column of 85 mm needs 0.33 for the floors of a loss.
constexpr double kMostForNames = 0.45;

bool isEmpty(const Plot& plot) {
    return plot.bands.empty() && plot.curves.empty() && plot.stems.empty() && plot.references.empty() &&
           plot.plateaus.empty() && plot.maps.empty();
}

QString axisText(const Axis& axis) {
    return axis.unit.isEmpty() ? axis.label : QStringLiteral("%1 (%2)").arg(axis.label, axis.unit);
}

/// The margins that a plot needs around its area.
struct Surround {
    double left = 0, right = 0, top = 0, lane = 0, bottom = 0;
    bool x_labels = true;  ///< false where the plot below shows the same axis
};

class Layouter {
  public:
    Layouter(const Figure& figure, const QSizeF& size, const RenderStyle& style)
        : figure_(figure),
          style_(style),
          unit_(style.unit),
          row_(textSize(QStringLiteral("X"), Font::Small, style).height()) {
        layout_.size = size;
        const double pad = 6 * unit_;
        content_ =
            QRectF(pad, pad, std::max(1.0, size.width() - 2 * pad), std::max(1.0, size.height() - 2 * pad));
    }

    FigureLayout run() {
        if (style_.show_title) addTitle();
        if (std::all_of(figure_.plots.begin(), figure_.plots.end(), isEmpty)) {
            addText(content_, Qt::AlignCenter | Qt::TextWordWrap, figure_.empty_text, style_.theme.muted,
                    Font::Text);
            return std::move(layout_);
        }
        if (style_.legend == LegendPlace::Below) addLegend();
        const std::size_t count = figure_.plots.size();
        layout_.plots.resize(count);
        around_.resize(count);
        for (std::size_t i = 0; i < count; ++i) chooseScales(i);
        for (std::size_t i = 0; i < count; ++i) measure(i);
        place();
        for (std::size_t i = 0; i < count; ++i) fill(i);
        return std::move(layout_);
    }

  private:
    void addText(const QRectF& rect, int flags, const QString& text, const QColor& colour, Font font) {
        if (!text.isEmpty()) layout_.texts.push_back({rect, flags, text, colour, font, {}});
    }

    void addTitle() {
        const QSizeF title = textSize(figure_.title, Font::Title, style_);
        addText(QRectF(content_.topLeft(), QSizeF(content_.width(), title.height())),
                Qt::AlignLeft | Qt::AlignVCenter, figure_.title, style_.theme.text, Font::Title);
        const double left = title.width() + (title.width() > 0 ? 8 * unit_ : 0);
        const QFontMetricsF metrics(style_.text);
        addText(QRectF(content_.left() + left, content_.top(), std::max(0.0, content_.width() - left),
                       title.height()),
                Qt::AlignLeft | Qt::AlignVCenter,
                metrics.elidedText(figure_.subtitle, Qt::ElideRight, std::max(0.0, content_.width() - left)),
                style_.theme.muted, Font::Text);
        content_.setTop(content_.top() + title.height() + 3 * unit_);
    }

    /// One swatch and name per run, in rows at the bottom.
    void addLegend() {
        std::vector<const Curve*> entries;
        for (const auto& plot : figure_.plots) {
            for (const auto& curve : plot.curves) {
                const bool known = std::any_of(entries.begin(), entries.end(),
                                               [&](auto* e) { return e->name == curve.name; });
                if (!curve.name.isEmpty() && curve.label_at_end && !known) entries.push_back(&curve);
            }
        }
        const double swatch = 22 * unit_, gap = 14 * unit_;
        std::vector<std::vector<const Curve*>> rows(1);
        double x = 0;
        for (const Curve* entry : entries) {
            const double width = swatch + textSize(entry->name, Font::Small, style_).width() + gap;
            if (x > 0 && x + width > content_.width()) rows.emplace_back(), x = 0;
            rows.back().push_back(entry);
            x += width;
        }
        double y = content_.bottom() - static_cast<double>(rows.size()) * row_;
        content_.setBottom(y - 4 * unit_);
        for (const auto& row : rows) {
            x = content_.left();
            for (const Curve* entry : row) {
                LineShape line = curvePen(*entry, style_);
                line.lines = {QLineF(x, y + row_ / 2, x + swatch - 5 * unit_, y + row_ / 2)};
                layout_.lines.push_back(line);
                const double width = textSize(entry->name, Font::Small, style_).width();
                addText(QRectF(x + swatch, y, width + gap, row_), Qt::AlignLeft | Qt::AlignVCenter,
                        entry->name, style_.theme.text, Font::Small);
                x += swatch + width + gap;
            }
            y += row_;
        }
    }

    void chooseScales(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        PlotLayout& out = layout_.plots[i];
        const bool map = !plot.maps.empty();
        out.x.scale = map ? Scale::Linear : plot.x.scale;
        out.y.scale = map ? Scale::Linear : plot.y.scale;
        Range x = xRange(plot);
        if (!map) {
            // Plots under one another with one x label show one x range.
            bool first = true;
            for (const std::size_t k : plotsSharingX(figure_, i)) {
                const Plot& other = figure_.plots[k];
                if (isEmpty(other)) continue;
                const Range r = other.x.range ? *other.x.range : xRange(other);
                x = first ? r : Range{std::min(x.first, r.first), std::max(x.second, r.second)};
                first = false;
            }
            if (plot.x.range) x = *plot.x.range;
            if (!isUsable(x, out.x.scale)) x = xRange(plot);
        }
        out.x.low = x.first, out.x.high = x.second;
        Range y = yRange(plot, plot.x.range ? std::optional<Range>(x) : std::nullopt);
        if (!map && plot.y.range && isUsable(*plot.y.range, out.y.scale)) y = *plot.y.range;
        out.y.low = y.first, out.y.high = y.second;
    }

    void measure(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        Surround& around = around_[i];
        const bool last = i + 1 == figure_.plots.size();
        const auto sharing = plotsSharingX(figure_, i);
        around.x_labels =
            figure_.side_by_side || last || std::find(sharing.begin(), sharing.end(), i + 1) == sharing.end();
        if (!plot.heading.isEmpty() || !plot.y.label.isEmpty() || !plot.maps.empty())
            around.top = 1.4 * row_;  // a tick label at the upper end of the axis extends half above it
        else
            around.top = row_ / 2;
        if (!plot.lane_label.isEmpty()) around.lane = laneRows(plot) * row_ + 2 * unit_;
        around.bottom = around.lane + (around.x_labels ? row_ + 5 * unit_ : 4 * unit_);
        if (around.x_labels && !plot.x.label.isEmpty()) around.bottom += row_;
        around.right = 12 * unit_;
        if (!plot.maps.empty())
            around.right = std::max(around.right, colourBarWidth(plot.maps.front(), style_));
        const double columns = figure_.side_by_side ? static_cast<double>(figure_.plots.size()) : 1;
        around.right = std::max(
            around.right, std::min(endLabelWidth(plot, style_), kMostForNames * content_.width() / columns));
    }

    /// Ticks of the y axes depend on the heights alone, so heights come first, then margins, then widths.
    void place() {
        const std::size_t count = figure_.plots.size();
        double height = content_.height(), shares = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (!figure_.side_by_side) height -= around_[i].top + around_[i].bottom;
            shares += std::max(0.0, figure_.plots[i].height_share);
        }
        double top = content_.top(), left = 0, right = 0;
        double shared_top = 0, shared_bottom = 0;
        for (const auto& a : around_)
            shared_top = std::max(shared_top, a.top), shared_bottom = std::max(shared_bottom, a.bottom);
        for (std::size_t i = 0; i < count; ++i) {
            Surround& around = around_[i];
            const double share = shares > 0 ? std::max(0.0, figure_.plots[i].height_share) / shares
                                            : 1.0 / static_cast<double>(count);
            const double mine = std::max(
                figure_.side_by_side ? content_.height() - shared_top - shared_bottom : height * share,
                4 * unit_);
            QRectF& area = layout_.plots[i].area;
            const double first = figure_.side_by_side ? content_.top() + shared_top : top + around.top;
            area = QRectF(content_.left(), std::round(first), 1, std::max(1.0, std::round(mine)));
            top = area.bottom() + around.bottom;
            addYTicks(i);
            left = std::max(left, around.left);
            right = std::max(right, around.right);
        }
        const double width =
            figure_.side_by_side ? content_.width() / static_cast<double>(count) : content_.width();
        for (std::size_t i = 0; i < count; ++i) {
            QRectF& area = layout_.plots[i].area;
            const double begin =
                content_.left() + (figure_.side_by_side ? static_cast<double>(i) * width : 0);
            area.setLeft(std::round(begin + left));
            area.setRight(std::max(area.left() + 1, std::round(begin + width - right)));
        }
    }

    std::vector<Tick> ticksOf(const Axis& axis, const AxisMap& map, const HeatMap* cells, bool vertical,
                              int most) const {
        if (cells)
            return vertical ? cellTicks(cells->rows, cells->row_names)
                            : cellTicks(cells->columns, cells->column_names);
        if (axis.ticks.empty()) return niceTicks(map.low, map.high, map.scale, axis.integers, most);
        std::vector<Tick> ticks;
        for (const auto& t : axis.ticks) {
            const double p = map.scale == Scale::Log && t.value <= 0 ? kNaN : t.value;
            if (p >= map.low && p <= map.high)
                ticks.push_back({t.value, t.minor ? QString() : t.label, t.minor});
        }
        return ticks;
    }

    /// Skips every second, third, … label until none touch; the first is always kept.
    static void thinLabels(std::vector<TickShape>& ticks, double gap, bool vertical) {
        std::vector<TickShape*> labelled;
        for (auto& t : ticks) {
            if (!t.label_rect.isNull()) labelled.push_back(&t);
        }
        const auto touches = [&](std::size_t stride) {
            for (std::size_t i = stride; i < labelled.size(); i += stride) {
                const QRectF &a = labelled[i - stride]->label_rect, &b = labelled[i]->label_rect;
                const double apart = vertical ? std::max(a.top() - b.bottom(), b.top() - a.bottom())
                                              : std::max(a.left() - b.right(), b.left() - a.right());
                if (apart < gap) return true;
            }
            return false;
        };
        std::size_t stride = 1;
        while (touches(stride)) ++stride;
        for (std::size_t i = 0; i < labelled.size(); ++i) {
            if (i % stride != 0) labelled[i]->label_rect = QRectF();
        }
    }

    void addYTicks(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        PlotLayout& out = layout_.plots[i];
        out.y.from = out.area.bottom(), out.y.to = out.area.top();
        const int most = std::clamp(static_cast<int>(out.area.height() / (1.7 * row_)), 2, 8);
        for (const Tick& tick :
             ticksOf(plot.y, out.y, plot.maps.empty() ? nullptr : &plot.maps.front(), true, most)) {
            TickShape shape{tick, out.y.toPixel(tick.value), {}};
            if (!tick.label.isEmpty()) {
                const double width = textSize(tick.label, Font::Small, style_).width();
                shape.label_rect = QRectF(0, shape.at - row_ / 2, width, row_);
                around_[i].left = std::max(around_[i].left, width + 8 * unit_);
            }
            out.y_ticks.push_back(shape);
        }
        thinLabels(out.y_ticks, 0, true);
        if (plot.maps.empty()) out.y_grid = gridOf(out.y_ticks, out.y);
        if (!plot.lane_label.isEmpty()) {
            around_[i].left =
                std::max(around_[i].left, textSize(plot.lane_label, Font::Small, style_).width() + 8 * unit_);
        }
    }

    void addXTicks(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        PlotLayout& out = layout_.plots[i];
        out.x.from = out.area.left(), out.x.to = out.area.right();
        const double top = out.area.bottom() + around_[i].lane + 5 * unit_;
        for (int most = 8; most >= 1; --most) {
            out.x_ticks.clear();
            double needed = 0;
            int labels = 0;
            for (const Tick& tick :
                 ticksOf(plot.x, out.x, plot.maps.empty() ? nullptr : &plot.maps.front(), false, most)) {
                TickShape shape{tick, out.x.toPixel(tick.value), {}};
                if (!tick.label.isEmpty()) {
                    const double width = textSize(tick.label, Font::Small, style_).width();
                    shape.label_rect = QRectF(shape.at - width / 2, top, width, row_);
                    needed += width + 8 * unit_;
                    ++labels;
                }
                out.x_ticks.push_back(shape);
            }
            if (needed <= out.area.width() || labels <= 2) break;
        }
        thinLabels(out.x_ticks, 4 * unit_, false);
        if (!around_[i].x_labels) {
            for (auto& t : out.x_ticks) t.label_rect = QRectF();
        }
        if (plot.maps.empty()) out.x_grid = gridOf(out.x_ticks, out.x);
    }

    /// Grid lines at the labelled ticks where these are even in axis coordinates; at the decades of an uneven
    /// log axis.
    static std::optional<GridSteps> gridOf(const std::vector<TickShape>& ticks, const AxisMap& map) {
        const bool log = map.scale == Scale::Log;
        std::vector<double> at;
        for (const auto& t : ticks) {
            if (!t.tick.minor && !t.tick.label.isEmpty())
                at.push_back(log ? std::log10(t.tick.value) : t.tick.value);
        }
        if (at.size() >= 2) {
            const double step = at[1] - at[0];
            bool even = step > 0;
            for (std::size_t i = 1; i < at.size(); ++i)
                even = even && std::abs(at[i] - at[i - 1] - step) < 1e-6 * step;
            if (even) return GridSteps{at[0], step};
        }
        if (log && std::floor(std::log10(map.high)) >= std::ceil(std::log10(map.low))) {
            return GridSteps{std::ceil(std::log10(map.low)), 1};
        }
        return std::nullopt;
    }

    void fill(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        const Surround& around = around_[i];
        PlotLayout& out = layout_.plots[i];
        const QRectF& area = out.area;
        addXTicks(i);
        for (auto& t : out.y_ticks) {
            if (!t.label_rect.isNull()) t.label_rect.moveRight(area.left() - 6 * unit_);
        }
        const auto axisTitle = [&](const QRectF& rect, int flags, const QString& text, const QColor& colour,
                                   Font font) {
            const QFontMetricsF metrics(fontOf(font, style_));
            if (!text.isEmpty())
                out.texts.push_back(
                    {rect, flags, metrics.elidedText(text, Qt::ElideRight, rect.width()), colour, font, {}});
        };
        // The y label is placed above the axis, horizontally, where it needs no width.
        const double end = area.right() + around.right, top = area.top() - around.top;
        LabelSpace space;
        space.right = end;
        if (around.lane > 0) space.lane = QRectF(area.left(), area.bottom(), area.width(), around.lane);
        if (around.top >= row_) {
            space.above = QRectF(QPointF(figure_.side_by_side ? area.left() : content_.left(), top),
                                QPointF(end, top + row_));
        }
        const auto takeLeft = [&](const QString& text, const QColor& colour, Font font) {
            if (text.isEmpty()) return;
            const double width = std::min(textSize(text, font, style_).width() + unit_, space.above.width());
            axisTitle(QRectF(space.above.topLeft(), QSizeF(width, row_)), Qt::AlignLeft | Qt::AlignVCenter,
                      text, colour, font);
            space.above.setLeft(std::min(space.above.right(), space.above.left() + width + 8 * unit_));
        };
        takeLeft(plot.heading, style_.theme.text, Font::Text);
        takeLeft(axisText(plot.y), style_.theme.muted, Font::Small);
        if (!plot.maps.empty() && !plot.maps.front().scale_label.isEmpty()) {
            const QString& label = plot.maps.front().scale_label;
            const double width =
                std::min(textSize(label, Font::Small, style_).width() + unit_, space.above.width());
            axisTitle(QRectF(end - width, top, width, row_), Qt::AlignRight | Qt::AlignVCenter, label,
                      style_.theme.muted, Font::Small);
            space.above.setRight(end - width - 8 * unit_);
        }
        if (around.x_labels && !plot.x.label.isEmpty()) {
            const QRectF row(area.left(), area.bottom() + around.bottom - row_, area.width(), row_);
            const QString text = axisText(plot.x);
            axisTitle(row, Qt::AlignHCenter | Qt::AlignVCenter, text, style_.theme.muted, Font::Small);
            // A chip is placed in its half; a single chip may use the wider free half.
            const double half = (row.width() - textSize(text, Font::Small, style_).width()) / 2 - 8 * unit_;
            space.below_left = QRectF(row.left(), row.top(), std::max(0.0, half), row_);
            space.below_right =
                QRectF(row.right() - std::max(0.0, half), row.top(), std::max(0.0, half), row_);
        }
        if (!plot.maps.empty()) addHeatMap(plot.maps.front(), style_, out);
        addShapes(plot, style_, out);
        addLabels(plot, style_, space, out);
    }

    const Figure& figure_;
    const RenderStyle& style_;
    const double unit_, row_;
    QRectF content_;
    std::vector<Surround> around_;
    FigureLayout layout_;
};

}  // namespace

FigureLayout layoutFigure(const Figure& figure, const QSizeF& size, const RenderStyle& style) {
    return Layouter(figure, size, style).run();
}

int plotAt(const FigureLayout& layout, const QPointF& position) {
    for (std::size_t i = 0; i < layout.plots.size(); ++i) {
        if (layout.plots[i].area.contains(position)) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace normscope::widgets
