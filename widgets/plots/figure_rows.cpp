// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/figure_rows.h"

#include "widgets/figures/outcome_word.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/curve_shapes.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/plot_labels.h"

#include <QFontMetricsF>
#include <algorithm>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

double rowHeight(const RenderStyle& style) {
    return textSize(QStringLiteral("X"), Font::Small, style).height();
}

/// Items from left to right, a new row where the next one does not fit.
std::vector<std::vector<std::size_t>> flow(const std::vector<double>& widths, double gap, double width) {
    std::vector<std::vector<std::size_t>> rows(1);
    double x = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (x > 0 && x + widths[i] > width) {
            rows.emplace_back();
            x = 0;
        }
        rows.back().push_back(i);
        x += widths[i] + gap;
    }
    return rows;
}

/// A text in rows of at most this width, broken between words.
QStringList broken(const QString& text, const QFontMetricsF& metrics, double width) {
    QStringList rows;
    for (const QString& word : text.split(u' ', Qt::SkipEmptyParts)) {
        const QString longer = rows.isEmpty() ? word : rows.last() + u' ' + word;
        if (rows.isEmpty() || metrics.horizontalAdvance(longer) > width)
            rows << word;
        else
            rows.last() = longer;
    }
    return rows;
}

}  // namespace

QRectF addLegendRows(const Figure& figure, const RenderStyle& style, QRectF content, FigureLayout& layout) {
    std::vector<const Curve*> entries;
    for (const auto& plot : figure.plots) {
        for (const auto& curve : plot.curves) {
            const bool known =
                std::any_of(entries.begin(), entries.end(), [&](auto* e) { return e->name == curve.name; });
            const bool in_key = figure.colour_key && curve.role.kind == Role::Kind::Sequential;
            if (!curve.name.isEmpty() && curve.label_at_end && !known && !in_key) entries.push_back(&curve);
        }
    }
    if (entries.empty()) return content;
    const double unit = style.unit, row = rowHeight(style), swatch = 22 * unit;
    std::vector<double> widths;
    for (const Curve* entry : entries)
        widths.push_back(swatch + textSize(entry->name, Font::Small, style).width());
    const auto rows = flow(widths, 14 * unit, content.width());
    double y = content.bottom() - static_cast<double>(rows.size()) * row;
    content.setBottom(y - 4 * unit);
    for (const auto& items : rows) {
        double x = content.left();
        for (const std::size_t i : items) {
            LineShape line = curvePen(*entries[i], style);
            line.lines = {QLineF(x, y + row / 2, x + swatch - 5 * unit, y + row / 2)};
            layout.lines.push_back(line);
            layout.texts.push_back({QRectF(x + swatch, y, widths[i] - swatch + unit, row),
                                    Qt::AlignLeft | Qt::AlignVCenter,
                                    entries[i]->name,
                                    style.theme.text,
                                    Font::Small,
                                    {}});
            x += widths[i] + 14 * unit;
        }
        y += row;
    }
    return content;
}

QRectF addNoteRows(const std::vector<Note>& notes, const RenderStyle& style, QRectF content,
                   FigureLayout& layout) {
    if (notes.empty()) return content;
    const QFontMetricsF metrics(style.small);
    const double row = rowHeight(style), gap = 12 * style.unit;
    std::vector<TextShape> items;  // one a row of a note
    std::vector<double> widths;
    for (const Note& note : notes) {
        const QColor colour =
            note.role ? readable(style.theme.colour(*note.role), style.theme.background) : style.theme.muted;
        const int flags = Qt::AlignLeft | Qt::AlignVCenter;
        for (const QString& text : broken(note.text, metrics, content.width())) {
            items.push_back({{}, flags, text, colour, Font::Small, {}});
            widths.push_back(metrics.horizontalAdvance(text) + style.unit);
        }
    }
    const auto rows = flow(widths, gap, content.width());
    double y = content.bottom() - static_cast<double>(rows.size()) * row;
    content.setBottom(y - 3 * style.unit);
    for (const auto& indices : rows) {
        double x = content.left();
        for (const std::size_t i : indices) {
            items[i].rect = QRectF(x, y, widths[i], row);
            layout.texts.push_back(items[i]);
            x += widths[i] + gap;
        }
        y += row;
    }
    return content;
}

QRectF addColourKey(const ColourKey& key, const RenderStyle& style, QRectF content, FigureLayout& layout) {
    constexpr int kSteps = 48;
    const double unit = style.unit, row = rowHeight(style), bar = 9 * unit;
    double widest = textSize(key.title, Font::Small, style).width();
    for (const NamedTick& tick : key.ticks)
        widest = std::max(widest, bar + 5 * unit + textSize(tick.label, Font::Small, style).width());
    widest += unit;
    const double left = content.right() - widest;
    const QRectF area(left, content.top() + 1.6 * row, bar,
                      std::max(1.0, content.height() - 1.6 * row - 2.6 * row));
    for (int i = 0; i < kSteps; ++i) {
        const double height = area.height() / kSteps;
        layout.areas.push_back({QPolygonF(QRectF(area.left(), area.bottom() - (i + 1) * height, bar, height)),
                                sequentialColour((i + 0.5) / kSteps, style.theme.isDark())});
    }
    layout.texts.push_back({QRectF(left, content.top(), widest, row),
                            Qt::AlignLeft | Qt::AlignVCenter,
                            key.title,
                            style.theme.muted,
                            Font::Small,
                            {}});
    double above = area.bottom() + row;  // labels from below, only those that fit
    for (const NamedTick& tick : key.ticks) {
        const double y = area.bottom() - tick.value * area.height();
        if (y + row / 2 > above) continue;
        above = y - row / 2;
        layout.texts.push_back({QRectF(area.right() + 5 * unit, y - row / 2, widest - bar - 5 * unit, row),
                                Qt::AlignLeft | Qt::AlignVCenter,
                                tick.label,
                                style.theme.muted,
                                Font::Small,
                                {}});
    }
    content.setRight(left - 10 * unit);
    return content;
}

QRectF addStateKey(const std::vector<RunState>& states, const RenderStyle& style, QRectF content,
                   FigureLayout& layout) {
    const double unit = style.unit, height = rowHeight(style), side = 10 * unit;
    const QRectF row(content.left(), content.bottom() - height, content.width(), height);
    content.setBottom(content.bottom() - height - 4 * unit);
    double left = row.left();
    const auto word = [&](const QString& text) {
        const double width = textSize(text, Font::Small, style).width() + unit;
        layout.texts.push_back({QRectF(left, row.top(), width, height),
                                Qt::AlignLeft | Qt::AlignVCenter,
                                text,
                                style.theme.muted,
                                Font::Small,
                                {}});
        left += width + 14 * unit;
    };
    const auto box = [&] {
        const QRectF at(left, row.center().y() - side / 2, side, side);
        left += side + 5 * unit;
        return at;
    };
    for (const RunState state : states) {
        const double dot = state == RunState::Prepared ? 0.3 * side : 0;
        layout.glyphs.push_back(
            {box().adjusted(dot, dot, -dot, -dot), cellGlyph(state), style.theme.text, {}});
        word(state == RunState::Prepared ? QStringLiteral("queued") : outcomeWord(state));
    }
    const QRectF frame = box();
    layout.lines.push_back(
        {{QLineF(frame.topLeft(), frame.topRight()), QLineF(frame.topRight(), frame.bottomRight()),
          QLineF(frame.bottomRight(), frame.bottomLeft()), QLineF(frame.bottomLeft(), frame.topLeft())},
         style.theme.text,
         1.5 * unit,
         {}});
    word(QStringLiteral("lowest of its row"));
    return content;
}

}  // namespace normscope::widgets
