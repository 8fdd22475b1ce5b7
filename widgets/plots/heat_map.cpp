// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/heat_map.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/plot_labels.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace normscope::widgets {
namespace {

constexpr double kSmallestCell = 6;
constexpr double kBarWidth = 8;
constexpr double kHeatMapGlyph = 10, kGlyphStep = 13;  // of the runs of a cell, in units

QColor cellColour(const HeatMap& map, double value, const RenderStyle& style) {
    if (map.colour == HeatMap::Colour::None) return style.theme.neutral;
    const double span = map.high > map.low ? map.high - map.low : 1;
    if (map.colour == HeatMap::Colour::Magnitude)
        return sequentialColour((value - map.low) / span, false);  // unlike for lines, bright is large
    const double reach = std::max({std::abs(map.low), std::abs(map.high), 1e-300});
    return divergingColour(value / reach, style.theme.isDark());
}

std::size_t indexOf(const HeatMap& map, int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(map.columns) +
           static_cast<std::size_t>(column);
}

/// The cell that represents a block: bad ones first, else the largest value.
std::size_t loudest(const HeatMap& map, int row, int column, int merged) {
    std::size_t best = indexOf(map, row, column);
    const auto rank = [&](std::size_t i) {
        const double v = i < map.value.size() ? map.value[i] : kNaN;
        return std::isnan(v) ? std::numeric_limits<double>::infinity() : v;
    };
    for (int r = row; r < std::min(row + merged, map.rows); ++r) {
        for (int c = column; c < std::min(column + merged, map.columns); ++c) {
            if (rank(indexOf(map, r, c)) > rank(best)) best = indexOf(map, r, c);
        }
    }
    return best;
}

QString barText(const QString& given, double value) {
    return given.isEmpty() ? numberText(value, 3) : given;
}

double rowNotesWidth(const HeatMap& map, const RenderStyle& style) {
    double width = 0;
    for (const QString& text : map.row_notes + QStringList{map.row_notes_title})
        width = std::max(width, textSize(text, TextShape::Font::Small, style).width());
    return width > 0 ? width + 12 * style.unit : 0;
}

void addRowNotes(const HeatMap& map, const RenderStyle& style, PlotLayout& layout) {
    const double left = layout.area.right() + 8 * style.unit;
    const double row = textSize(QStringLiteral("X"), TextShape::Font::Small, style).height();
    const auto add = [&](const QString& text, double middle, const QColor& colour) {
        const double width = textSize(text, TextShape::Font::Small, style).width();
        if (!text.isEmpty())
            layout.texts.push_back({QRectF(left, middle - row / 2, width, row),
                                    Qt::AlignLeft | Qt::AlignVCenter,
                                    text,
                                    colour,
                                    TextShape::Font::Small,
                                    {}});
    };
    for (int i = 0; i < std::min<int>(map.rows, static_cast<int>(map.row_notes.size())); ++i)
        add(map.row_notes[i], layout.y.toPixel(i + 0.5), style.theme.text);
    add(map.row_notes_title, layout.area.top() - 0.7 * row, style.theme.muted);
}

/// The value above the glyphs of the cell's runs, where both fit; of more runs than fit, a glyph and the
/// count for each state.
void addRuns(const CellRuns& runs, const RenderStyle& style, CellShape& cell) {
    const double glyph = kHeatMapGlyph * style.unit, step = kGlyphStep * style.unit;
    const QSizeF small = textSize(QStringLiteral("0"), TextShape::Font::Small, style);
    if (!cell.text.isEmpty()) {
        for (const auto font : {TextShape::Font::Title, TextShape::Font::Text, TextShape::Font::Small})
            if (const QSizeF size = textSize(cell.text, font, style);
                size.width() + 8 * style.unit <= cell.rect.width() &&
                size.height() + (runs.states.empty() ? 0 : glyph + 8 * style.unit) <= cell.rect.height()) {
                cell.font = font;
                break;
            }
    }
    const double text_height = cell.text.isEmpty() ? 0 : textSize(cell.text, cell.font, style).height();
    const double height = text_height + (text_height > 0 ? 3 * style.unit : 0) + glyph;
    if (runs.states.empty() || height + 4 * style.unit > cell.rect.height()) return;

    std::vector<std::pair<RunState, std::size_t>> shown;
    for (const RunState state : runs.states) shown.emplace_back(state, 1);
    const double space = cell.rect.width() - 8 * style.unit;
    const bool counted = static_cast<double>(shown.size()) * step > space;
    double width = static_cast<double>(shown.size()) * step;
    if (counted) {
        std::map<RunState, std::size_t> counts;
        for (const RunState state : runs.states) ++counts[state];
        shown.assign(counts.begin(), counts.end());
        width = 0;
        for (const auto& [state, count] : shown)
            width +=
                step + static_cast<double>(QString::number(count).size()) * small.width() + 4 * style.unit;
        if (width > space) return;
    }
    const double top = cell.rect.center().y() - height / 2;
    if (text_height > 0) cell.text_rect = QRectF(cell.rect.left(), top, cell.rect.width(), text_height);
    const bool hatched = cell.mark == CellShape::Mark::NaN;
    const QColor ink = textOn(cell.fill), box = hatched ? style.theme.background : QColor();
    double left = cell.rect.center().x() - width / 2;
    for (const auto& [state, count] : shown) {
        QRectF at(left + (step - glyph) / 2, top + height - glyph, glyph, glyph);
        const double small_dot = 0.3 * glyph;
        if (state == RunState::Prepared) at.adjust(small_dot, small_dot, -small_dot, -small_dot);
        cell.glyphs.push_back({at, cellGlyph(state), ink, box});
        left += step;
        if (!counted) continue;
        cell.counts.push_back(
            {QRectF(left, at.center().y() - small.height() / 2,
                    static_cast<double>(QString::number(count).size()) * small.width(), small.height()),
             Qt::AlignCenter, QString::number(count), ink, TextShape::Font::Small, box});
        left += cell.counts.back().rect.width() + 4 * style.unit;
    }
}

void addColourBar(const HeatMap& map, const RenderStyle& style, PlotLayout& layout) {
    if (map.colour == HeatMap::Colour::None) return;
    const double left = layout.area.right() + 8 * style.unit + rowNotesWidth(map, style);
    const double width = kBarWidth * style.unit;
    const double height = textSize(QStringLiteral("X"), TextShape::Font::Small, style).height();
    const double top = layout.area.top() + height / 2, bottom = layout.area.bottom() - height / 2;
    constexpr int kSteps = 48;
    for (int i = 0; i < kSteps; ++i) {
        const double t = (i + 0.5) / kSteps, step = (bottom - top) / kSteps;
        // Half a unit of overlap hides the seams of antialiasing.
        const QRectF piece(left, bottom - (i + 1) * step, width, step + (i > 0 ? 0.5 * style.unit : 0));
        layout.areas.push_back(
            {QPolygonF(piece), cellColour(map, map.low + t * (map.high - map.low), style)});
    }
    const auto label = [&](const QString& text, double y) {
        const QSizeF size = textSize(text, TextShape::Font::Small, style);
        layout.texts.push_back(
            {QRectF(left + width + 3 * style.unit, y - size.height() / 2, size.width(), size.height()),
             Qt::AlignLeft | Qt::AlignVCenter,
             text,
             style.theme.muted,
             TextShape::Font::Small,
             {}});
    };
    label(barText(map.high_text, map.high), top);
    label(barText(map.low_text, map.low), bottom);
}

}  // namespace

double widthRightOf(const HeatMap& map, const RenderStyle& style) {
    if (map.colour == HeatMap::Colour::None) return 8 * style.unit + rowNotesWidth(map, style);
    double labels = 0;
    for (const QString& text : {barText(map.low_text, map.low), barText(map.high_text, map.high)})
        labels = std::max(labels, textSize(text, TextShape::Font::Small, style).width());
    return (8 + kBarWidth + 5) * style.unit + labels + rowNotesWidth(map, style);
}

Glyph cellGlyph(RunState state) {
    return state == RunState::Prepared ? Glyph::Dot : outcomeGlyph(state);
}

std::vector<Tick> cellTicks(int count, const QStringList& names) {
    std::vector<Tick> ticks;
    for (int i = 0; i < count; ++i)
        ticks.push_back({i + 0.5, i < names.size() ? names[i] : QString::number(i + 1), false});
    return ticks;
}

namespace {

void addCells(const HeatMap& map, const RenderStyle& style, PlotLayout& layout) {
    if (map.rows <= 0 || map.columns <= 0) return;
    const double smallest = kSmallestCell * style.unit;
    while ((layout.area.width() / map.columns * layout.merged < smallest && layout.merged < map.columns) ||
           (layout.area.height() / map.rows * layout.merged < smallest && layout.merged < map.rows)) {
        ++layout.merged;
    }
    const int merged = layout.merged;
    // All cells are of one size: texts are drawn only if all of them fit.
    double widest = 0, highest = 0;
    for (const QString& text : map.text) {
        const QSizeF size = textSize(text, TextShape::Font::Small, style);
        widest = std::max(widest, size.width());
        highest = std::max(highest, size.height());
    }
    const bool texts_fit = merged == 1 && widest + 4 * style.unit <= layout.area.width() / map.columns &&
                           highest <= layout.area.height() / map.rows;
    for (int row = 0; row < map.rows; row += merged) {
        for (int column = 0; column < map.columns; column += merged) {
            const std::size_t i = loudest(map, row, column, merged);
            const double value = i < map.value.size() ? map.value[i] : kNaN;
            CellShape cell;
            cell.row = row;
            cell.column = column;
            const double top = layout.y.toPixel(std::min(row + merged, map.rows)),
                         bottom = layout.y.toPixel(row);
            const double left = layout.x.toPixel(column),
                         right = layout.x.toPixel(std::min(column + merged, map.columns));
            cell.rect = QRectF(QPointF(left, top), QPointF(right, bottom));
            const bool neutral = i < map.neutral.size() && map.neutral[i];
            if (!map.runs.empty()) {
                const double gap = std::min(style.unit, cell.rect.width() / 8);
                cell.rect.adjust(gap, gap, -gap, -gap);
            }
            if (std::isnan(value) && !neutral)
                cell.mark = CellShape::Mark::NaN;
            else if (std::isinf(value) && value > 0)
                cell.mark = CellShape::Mark::Inf;
            cell.fill =
                cell.mark == CellShape::Mark::NaN ? style.theme.background
                : neutral
                    ? style.theme.neutral
                    : cellColour(map, std::isinf(value) ? (value > 0 ? map.high : map.low) : value, style);
            if (map.aged) cell.fill = aged(style, cell.fill);
            if (texts_fit && cell.mark == CellShape::Mark::None &&
                static_cast<qsizetype>(i) < map.text.size())
                cell.text = map.text[static_cast<qsizetype>(i)];
            cell.selected = row <= map.selected_row && map.selected_row < row + merged &&
                            column <= map.selected_column && map.selected_column < column + merged;
            if (merged == 1 && i < map.runs.size()) {
                cell.best = map.runs[i].best;
                addRuns(map.runs[i], style, cell);
            }
            layout.cells.push_back(std::move(cell));
        }
    }
}

}  // namespace

QString mergedText(int merged) {
    return merged > 1 ? QStringLiteral("largest of %1 × %1 cells").arg(merged) : QString();
}

void addHeatMapInGrid(const HeatMap& map, const RenderStyle& style, bool bar, PlotLayout& layout) {
    addCells(map, style, layout);
    addRowNotes(map, style, layout);
    if (bar) addColourBar(map, style, layout);
}

void addHeatMap(const HeatMap& map, const RenderStyle& style, PlotLayout& layout) {
    addHeatMapInGrid(map, style, true, layout);
    const QString text = mergedText(layout.merged);
    if (text.isEmpty()) return;
    QColor backing = style.theme.background;
    backing.setAlphaF(0.88F);
    const QSizeF size = textSize(text, TextShape::Font::Small, style);
    layout.texts.push_back({QRectF(layout.area.left() + 4 * style.unit, layout.area.top() + 4 * style.unit,
                                   size.width() + 6 * style.unit, size.height()),
                            Qt::AlignCenter, text, style.theme.text, TextShape::Font::Small, backing});
}

}  // namespace normscope::widgets
