// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/figure_layout.h"

#include "widgets/figures/view_state.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/figure_rows.h"
#include "widgets/plots/flags.h"
#include "widgets/plots/geometry/plot_grid.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/plot_labels.h"
#include "widgets/plots/tick_labels.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

/// Of the width, right of a plot. A printed column of 85 mm needs 0.33 for the floors of a loss.
constexpr double kMaxForNames = 0.45;

/// Between the columns of small multiples, in units.
constexpr double kGridGap = 18;
constexpr double kRowGap = 3;  // between the rows of small multiples

bool isEmpty(const Plot& plot) {
    return plot.bands.empty() && plot.curves.empty() && plot.stems.empty() && plot.references.empty() &&
           plot.plateaus.empty() && plot.maps.empty();
}

/// The margins that a plot needs around its area.
struct Surround {
    double left = 0, right = 0, top = 0, flags = 0, lane = 0, bottom = 0;
    bool x_labels = true;        ///< false where the plot below shows the same axis
    bool x_name_inline = false;  ///< the name of x is right of the last tick label
};

class Layouter {
  public:
    Layouter(const Figure& figure, const QSizeF& size, const RenderStyle& style, OutsideTexts& outside)
        : figure_(figure),
          style_(style),
          outside_(outside),
          unit_(style.unit),
          row_(textSize(QStringLiteral("X"), Font::Small, style).height()) {
        layout_.size = size;
        const double pad = style.margin * unit_;
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
        content_ = addNoteRows(notes(), style_, content_, layout_);
        if (!figure_.state_key.empty()) content_ = addStateKey(figure_.state_key, style_, content_, layout_);
        if (style_.legend == LegendPlace::Below) content_ = addLegendRows(figure_, style_, content_, layout_);
        if (isGrid() && figure_.colour_key)
            content_ = addColourKey(*figure_.colour_key, style_, content_, layout_);
        const std::size_t count = figure_.plots.size();
        layout_.plots.resize(count);
        around_.resize(count);
        for (std::size_t i = 0; i < count; ++i) chooseScales(i);
        if (isGrid()) {
            shareScales();
            placeInGrid();
        } else {
            for (std::size_t i = 0; i < count; ++i) measure(i);
            place();
        }
        for (std::size_t i = 0; i < count; ++i) fill(i);
        if (isGrid()) nameColourScale();
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
        if (style_.texts_outside && left + metrics.horizontalAdvance(figure_.subtitle) > content_.width()) {
            content_.setTop(content_.top() + title.height());
            FigureLayout rows;  // in rows of its own
            const QRectF rest =
                addNoteRows(std::vector<Note>{{figure_.subtitle, {}}}, style_, content_, rows);
            for (TextShape& row : rows.texts) {
                row.rect.translate(0, content_.top() - (rest.bottom() + 3 * unit_));
                layout_.texts.push_back(row);
            }
            content_.setTop(content_.top() + content_.bottom() - rest.bottom());
            return;
        }
        addText(QRectF(content_.left() + left, content_.top(), std::max(0.0, content_.width() - left),
                       title.height()),
                Qt::AlignLeft | Qt::AlignVCenter,
                metrics.elidedText(figure_.subtitle, Qt::ElideRight, std::max(0.0, content_.width() - left)),
                style_.theme.muted, Font::Text);
        content_.setTop(content_.top() + title.height() + 3 * unit_);
    }

    bool isGrid() const { return figure_.side_by_side && figure_.shared_axes; }

    /// The figure's, the names of the lines of small multiples, and what found no place in the plots.
    std::vector<Note> notes() const {
        std::vector<Note> all = figure_.notes;
        if (isGrid()) {
            std::vector<std::pair<double, QString>> lines;
            for (const ReferenceLine& line : figure_.plots.front().references)
                if (line.orientation == Qt::Horizontal && !line.label.isEmpty())
                    lines.emplace_back(-line.value, line.label);
            std::sort(lines.begin(), lines.end());
            QStringList names;
            for (const auto& line : lines) names << line.second;
            if (names.size() == 1) all.push_back({"Dashed: " + names[0], {}});
            if (names.size() > 1) all.push_back({"Dashed, from above: " + names.join(", "), {}});
        }
        all.insert(all.end(), outside_.notes.begin(), outside_.notes.end());
        return all;
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

    /// Right of the plot area, with half of the last tick's label.
    double inlineNameWidth(const Plot& plot) const {
        return textSize(QStringLiteral("00"), Font::Small, style_).width() / 2 + 6 * unit_ +
               textSize(plot.x.text(), Font::Small, style_).width();
    }

    /// Empty where the panel's header has it, which is on screen alone.
    QString yName(std::size_t i) const {
        const QString name = figure_.plots[i].y.text();
        const bool in_header = figure_.quantity_in_header && style_.axis_names_inline && !style_.show_title &&
                               name == figure_.plots.front().y.text();
        return in_header ? QString() : name;
    }

    void measure(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        Surround& around = around_[i];
        const bool last = i + 1 == figure_.plots.size();
        const auto sharing = plotsSharingX(figure_, i);
        around.x_labels =
            figure_.side_by_side || last || std::find(sharing.begin(), sharing.end(), i + 1) == sharing.end();
        const bool chips_above = std::any_of(plot.chips.begin(), plot.chips.end(), [](const Chip& chip) {
            return chip.edge == Chip::Edge::TopLeft || chip.edge == Chip::Edge::TopRight;
        });
        if (!plot.heading.isEmpty() || !yName(i).isEmpty() || !plot.maps.empty() || chips_above)
            around.top = 1.4 * row_;  // a tick label at the upper end of the axis extends half above it
        else
            around.top = row_ / 2;
        around.flags = flagLaneHeight(plot, style_);
        // The half row of the tick label lies left of the lane.
        if (around.flags > 0) around.top = std::max(around.top, around.top - 0.4 * row_ + around.flags);
        if (!plot.lane_label.isEmpty()) around.lane = laneRows(plot) * row_ + 2 * unit_;
        around.bottom = around.lane + (around.x_labels ? row_ + 5 * unit_ : 4 * unit_);
        around.right = 12 * unit_;
        if (!plot.maps.empty())
            around.right = std::max(around.right, widthRightOf(plot.maps.front(), style_));
        const double columns = figure_.side_by_side ? static_cast<double>(figure_.plots.size()) : 1;
        around.right = std::max(
            around.right, std::min(endLabelWidth(plot, style_), kMaxForNames * content_.width() / columns));
    }

    /// The name of x lies in the space right of the plots where it fits, else in a row of its own.
    void nameX(std::size_t i) {
        const Plot& plot = figure_.plots[i];
        Surround& around = around_[i];
        around.x_name_inline = style_.axis_names_inline && inlineNameWidth(plot) <= around.right;
        if (around.x_labels && !plot.x.label.isEmpty() && !around.x_name_inline) around.bottom += row_;
    }

    /// Ticks of the y axes depend on the heights alone, so heights come first, then margins, then widths.
    void place() {
        const std::size_t count = figure_.plots.size();
        double height = content_.height(), shares = 0, left = 0, right = 0;
        for (const Surround& around : around_) right = std::max(right, around.right);
        for (std::size_t i = 0; i < count; ++i) {
            around_[i].right = right;
            nameX(i);
            if (!figure_.side_by_side) height -= around_[i].top + around_[i].bottom;
            shares += std::max(0.0, figure_.plots[i].height_share);
        }
        double top = content_.top();
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

    /// One range of x and of y for small multiples.
    void shareScales() {
        const auto unite = [](AxisMap& into, const AxisMap& other) {
            into.low = std::min(into.low, other.low);
            into.high = std::max(into.high, other.high);
        };
        AxisMap x = layout_.plots.front().x, y = layout_.plots.front().y;
        for (const PlotLayout& plot : layout_.plots) unite(x, plot.x), unite(y, plot.y);
        for (PlotLayout& plot : layout_.plots) plot.x = x, plot.y = y;
    }

    /// Labels of y in the first column, of x where no plot is below; both axes are named once.
    void placeInGrid() {
        const std::size_t count = layout_.plots.size();
        const Plot& first = figure_.plots.front();
        if (const QString text = yName(0); !text.isEmpty()) {
            addText(QRectF(content_.left(), content_.top(), content_.width(), row_),
                    Qt::AlignLeft | Qt::AlignVCenter, text, style_.theme.muted, Font::Small);
            y_row_ = QRectF(content_.left(), content_.top(), content_.width(), row_);
            content_.setTop(content_.top() + row_);
        }
        // One colour bar, at the right of the first row.
        if (!first.maps.empty())
            content_.setRight(content_.right() - widthRightOf(first.maps.front(), style_));
        const QRectF x_row(content_.left(), content_.bottom() - row_, content_.width(), row_);
        const bool inline_name = style_.axis_names_inline;  // left of the last row's tick labels
        const bool named = !first.x.label.isEmpty() && !inline_name;
        if (named) content_.setBottom(content_.bottom() - row_);
        grid_ = gridFor(static_cast<int>(count), content_.size());
        double widest = 0;  // fewer columns where a heading does not fit above its plot
        for (const Plot& plot : figure_.plots)
            widest = std::max(widest, textSize(plot.heading, Font::Text, style_).width() + unit_);
        const double labels = textSize(QStringLiteral("10⁻¹⁰"), Font::Small, style_).width();
        while (grid_.columns > 1 && widest > (content_.width() - labels) / grid_.columns - kGridGap * unit_) {
            --grid_.columns;
            grid_.rows = (static_cast<int>(count) + grid_.columns - 1) / grid_.columns;
        }
        const auto columns = static_cast<std::size_t>(grid_.columns);
        const double rows = grid_.rows, heading = 1.1 * row_, ticks = row_ + 5 * unit_,
                     gap = kGridGap * unit_;
        double lane = 0;  // of one height, so that the plots of a row end at one
        for (const Plot& plot : figure_.plots)
            if (!plot.lane_label.isEmpty()) lane = std::max(lane, (laneRows(plot) + 0.6) * row_);
        const double extra = heading + lane + kRowGap * unit_;
        const double height =
            std::max(1.0, (content_.height() - rows * extra - (ticks - kRowGap * unit_)) / rows);
        double left = 0;
        for (std::size_t i = 0; i < count; ++i) {
            Surround& around = around_[i];
            around.top = heading;
            around.x_labels = i + columns >= count;
            around.lane = lane;
            around.bottom = lane + (around.x_labels ? ticks : kRowGap * unit_);
            around.right = gap / 2;
            const auto row = i / columns;
            const double top = content_.top() + static_cast<double>(row) * (height + extra) + heading;
            layout_.plots[i].area = QRectF(content_.left(), std::round(top), 1, std::round(height));
            addYTicks(i);
            left = std::max(left, around.left);
        }
        if (inline_name)
            left = std::max(left, textSize(first.x.text(), Font::Small, style_).width() + 12 * unit_);
        const double width = (content_.width() - left - gap * static_cast<double>(columns - 1) - gap / 2) /
                             static_cast<double>(columns);
        for (std::size_t i = 0; i < count; ++i) {
            const auto column = static_cast<double>(i % columns);
            QRectF& area = layout_.plots[i].area;
            area.setLeft(std::round(content_.left() + left + column * (width + gap)));
            area.setWidth(std::max(1.0, std::round(width)));
            if (i % columns != 0)
                for (TickShape& tick : layout_.plots[i].y_ticks) tick.label_rect = QRectF();
        }
        if (named)
            addText(QRectF(content_.left() + left, x_row.top(), content_.width() - left, row_),
                    Qt::AlignHCenter | Qt::AlignVCenter, first.x.text(), style_.theme.muted, Font::Small);
        if (inline_name)
            addText(QRectF(content_.left(), content_.bottom() - row_, left - 12 * unit_, row_),
                    Qt::AlignLeft | Qt::AlignVCenter, first.x.text(), style_.theme.muted, Font::Small);
    }

    std::size_t lastOfFirstRow() const {
        return std::min(layout_.plots.size(), static_cast<std::size_t>(grid_.columns));
    }

    /// Of the maps of a grid: what the colours are, and whether cells were merged.
    void nameColourScale() {
        const Plot& first = figure_.plots.front();
        if (first.maps.empty() || y_row_.isNull()) return;
        int merged = 1;
        for (const PlotLayout& plot : layout_.plots) merged = std::max(merged, plot.merged);
        QStringList parts{first.maps.front().scale_label, mergedText(merged)};
        parts.removeAll(QString());
        const double left = textSize(first.y.text(), Font::Small, style_).width() + 8 * unit_;
        const QFontMetricsF metrics(style_.small);
        const QRectF rest = y_row_.adjusted(left, 0, 0, 0);
        addText(rest, Qt::AlignRight | Qt::AlignVCenter,
                metrics.elidedText(parts.join(QStringLiteral(" · ")), Qt::ElideRight, rest.width()),
                style_.theme.muted, Font::Small);
    }

    std::vector<Tick> ticksOf(const Axis& axis, const AxisMap& map, const HeatMap* cells, bool vertical,
                              int most) const {
        if (cells)
            return vertical ? cellTicks(cells->rows, cells->row_names)
                            : cellTicks(cells->columns, cells->column_names);
        if (axis.ticks.empty()) return niceTicks(map.low, map.high, map.scale, axis.integers, most);
        std::vector<Tick> ticks;
        for (const auto& t : axis.ticks) {
            const bool has_place = std::isfinite(toEven(map.scale, t.value));
            if (has_place && t.value >= map.low && t.value <= map.high)
                ticks.push_back({t.value, t.minor ? QString() : t.label, t.minor});
        }
        return ticks;
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
            if (!plot.maps.empty())
                if (const auto& roles = plot.maps.front().row_roles; out.y_ticks.size() < roles.size())
                    shape.colour =
                        readable(style_.theme.colour(roles[out.y_ticks.size()]), style_.theme.background);
            out.y_ticks.push_back(shape);
        }
        thinLabels(out.y_ticks, 0, true);
        if (plot.maps.empty()) out.y_grid = gridOf(out.y_ticks, out.y);
        if (!plot.lane_label.isEmpty()) {
            around_[i].left =
                std::max(around_[i].left, textSize(plot.lane_label, Font::Small, style_).width() + 8 * unit_);
        }
    }

    /// A label of an end of the axis may be wider than the margin there.
    QRectF inFigure(QRectF label) const {
        label.moveRight(std::min(label.right(), layout_.size.width()));
        label.moveLeft(std::max(label.left(), 0.0));
        return label;
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
                    shape.label_rect = inFigure(QRectF(shape.at - width / 2, top, width, row_));
                    needed += width + 8 * unit_;
                    ++labels;
                }
                out.x_ticks.push_back(shape);
            }
            if (needed <= out.area.width() || labels <= 2) break;
        }
        thinLabels(out.x_ticks, 4 * unit_, false);
        if (isGrid()) {  // the neighbours' labels begin in the middle of the gap
            const double reach = (kGridGap / 2 - 1) * unit_;
            for (auto& t : out.x_ticks)
                if (t.label_rect.left() < out.area.left() - reach ||
                    t.label_rect.right() > out.area.right() + reach)
                    t.label_rect = QRectF();
        }
        if (!around_[i].x_labels) {
            for (auto& t : out.x_ticks) t.label_rect = QRectF();
        }
        if (plot.maps.empty()) out.x_grid = gridOf(out.x_ticks, out.x);
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
        space.names = !isGrid();
        space.lane_named = !isGrid() || i % static_cast<std::size_t>(grid_.columns) == 0;
        if (style_.texts_outside) space.outside = &outside_;
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
        const QColor heading =
            plot.heading_role ? readable(style_.theme.colour(*plot.heading_role), style_.theme.background)
                              : style_.theme.text;
        takeLeft(plot.heading, heading, Font::Text);
        // Maps next to each other name their common axis once.
        const bool named_before =
            figure_.side_by_side && i > 0 && plot.y.text() == figure_.plots[i - 1].y.text();
        if (!isGrid() && !named_before) takeLeft(yName(i), style_.theme.muted, Font::Small);
        if (!plot.maps.empty() && !plot.maps.front().scale_label.isEmpty() && !isGrid()) {
            const QString& label = plot.maps.front().scale_label;
            const double width =
                std::min(textSize(label, Font::Small, style_).width() + unit_, space.above.width());
            axisTitle(QRectF(end - width, top, width, row_), Qt::AlignRight | Qt::AlignVCenter, label,
                      style_.theme.muted, Font::Small);
            space.above.setRight(end - width - 8 * unit_);
        }
        if (around.x_labels && !plot.x.label.isEmpty() && around.x_name_inline) {
            double left = area.right() + 6 * unit_;
            for (const TickShape& tick : out.x_ticks)
                if (!tick.label_rect.isNull()) left = std::max(left, tick.label_rect.right() + 6 * unit_);
            axisTitle(QRectF(left, area.bottom() + around.lane + 5 * unit_, end - left, row_),
                      Qt::AlignLeft | Qt::AlignVCenter, plot.x.text(), style_.theme.muted, Font::Small);
        } else if (around.x_labels && !plot.x.label.isEmpty() && !isGrid()) {
            const QRectF row(area.left(), area.bottom() + around.bottom - row_, area.width(), row_);
            const QString text = plot.x.text();
            axisTitle(row, Qt::AlignHCenter | Qt::AlignVCenter, text, style_.theme.muted, Font::Small);
            // A chip is placed in its half; a single chip may use the wider free half.
            const double half = (row.width() - textSize(text, Font::Small, style_).width()) / 2 - 8 * unit_;
            space.below_left = QRectF(row.left(), row.top(), std::max(0.0, half), row_);
            space.below_right =
                QRectF(row.right() - std::max(0.0, half), row.top(), std::max(0.0, half), row_);
        }
        if (!plot.maps.empty() && isGrid())
            addHeatMapInGrid(plot.maps.front(), style_, i + 1 == lastOfFirstRow(), out);
        else if (!plot.maps.empty())
            addHeatMap(plot.maps.front(), style_, out);
        addShapes(plot, style_, out);
        addFlags(plot, style_, QRectF(area.left(), area.top() - around.flags, area.width(), around.flags),
                 style_.texts_outside ? &outside_ : nullptr, out);
        addLabels(plot, style_, space, out);
    }

    const Figure& figure_;
    const RenderStyle& style_;
    OutsideTexts& outside_;
    QRectF y_row_;  ///< of a grid: above it, with the name of the y axis
    const double unit_, row_;
    QRectF content_;
    PlotGrid grid_;
    std::vector<Surround> around_;
    FigureLayout layout_;
};

/// On a screen names take little of the plot's width; long ones are in rows under it. (Paper tries first.)
bool namesAreWide(const Figure& figure, const QSizeF& size, const RenderStyle& style) {
    constexpr double kMax = 0.22;
    if (style.texts_outside || style.legend != LegendPlace::Direct || figure.side_by_side) return false;
    const auto has_stems = [](const Plot& plot) { return !plot.stems.empty(); };  // rows name curves alone
    if (std::any_of(figure.plots.begin(), figure.plots.end(), has_stems)) return false;
    RenderStyle below = style;
    below.legend = LegendPlace::Below;
    return std::any_of(figure.plots.begin(), figure.plots.end(), [&](const Plot& plot) {
        const double width = endLabelWidth(plot, style);
        return width > kMax * size.width() && width > endLabelWidth(plot, below);
    });
}

}  // namespace

FigureLayout layoutFigure(const Figure& figure, const QSizeF& size, const RenderStyle& style) {
    OutsideTexts outside;
    RenderStyle tried = style;
    if (namesAreWide(figure, size, style)) tried.legend = LegendPlace::Below;
    for (;;) {
        FigureLayout layout = Layouter(figure, size, tried, outside).run();
        if (!style.texts_outside) return layout;
        // What has no place in the plots gets rows under them; the plots shrink, and are laid out again.
        if (outside.names_do_not_fit && tried.legend == LegendPlace::Direct) {
            tried.legend = LegendPlace::Below;
        } else if (outside.fresh.empty()) {
            return layout;
        }
        outside.names_do_not_fit = false;
        outside.notes.insert(outside.notes.end(), outside.fresh.begin(), outside.fresh.end());
        outside.fresh.clear();
    }
}

int plotAt(const FigureLayout& layout, const QPointF& position) {
    for (std::size_t i = 0; i < layout.plots.size(); ++i) {
        if (layout.plots[i].area.contains(position)) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace normscope::widgets
