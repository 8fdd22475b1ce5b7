// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/figure_painter.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/geometry/clip.h"
#include "widgets/plots/geometry/column_raster.h"
#include "widgets/plots/plot_labels.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <optional>

namespace normscope::widgets {
namespace {

QPen pen(const QColor& colour, double width, Qt::PenCapStyle cap = Qt::FlatCap) {
    return QPen(colour, width, Qt::SolidLine, cap, Qt::RoundJoin);
}

void paintLines(QPainter& painter, const LineShape& shape) {
    painter.setPen(pen(shape.colour, shape.width));
    if (shape.dash.isEmpty()) {
        painter.drawLines(shape.lines);
        return;
    }
    QVector<qreal> pattern = shape.dash;
    for (qreal& length : pattern) length *= shape.width;
    for (const QLineF& line : shape.lines) painter.drawLines(dashes({line.p1(), line.p2()}, pattern));
}

void paintLine(QPainter& painter, const CurveShape& curve, const RenderStyle& style) {
    if (style.paths && !curve.pieces.empty()) {
        QPainterPath path;
        for (const QPolygonF& piece : curve.pieces) path.addPolygon(piece);
        QPen line = pen(curve.colour, curve.width);
        if (!curve.dash.isEmpty()) line.setDashPattern(curve.dash);
        painter.strokePath(path, line);
    } else if (!curve.pieces.empty()) {
        // Segments, not a polyline: with a pen wider than a pixel they are an order of magnitude faster.
        // Square caps fill the joints, twice as fast as round ones.
        QVector<qreal> pattern = curve.dash;
        for (qreal& length : pattern) length *= curve.width;
        painter.setPen(pen(curve.colour, curve.width, pattern.isEmpty() ? Qt::SquareCap : Qt::FlatCap));
        for (const QPolygonF& piece : curve.pieces) painter.drawLines(dashes(piece, pattern));
    }
}

void paintDots(QPainter& painter, const QVector<QPointF>& at, double size, const QColor& colour, bool paths) {
    if (paths) {
        QPainterPath dots;
        dots.setFillRule(Qt::WindingFill);  // where two overlap
        for (const QPointF& dot : at) dots.addEllipse(dot, size / 2, size / 2);
        painter.fillPath(dots, colour);
    } else {
        painter.setPen(pen(colour, size, Qt::RoundCap));
        painter.drawPoints(at.constData(), static_cast<int>(at.size()));
    }
}

/// In their order. Dense curves that follow each other are one image.
void paintCurves(QPainter& painter, const PlotLayout& plot, const RenderStyle& style) {
    std::optional<ColumnRaster> dense;
    const auto flush = [&] {
        if (dense) dense->paint(painter);
        dense.reset();
    };
    for (const CurveShape& curve : plot.curves) {
        if (!curve.columns.isEmpty()) {
            if (!dense) dense.emplace(plot.area, style.pixel);
            dense->add(curve.columns, curve.colour);
        } else if (!curve.pieces.empty()) {
            flush();
            paintLine(painter, curve, style);
        }
        if (curve.dots.isEmpty()) continue;
        flush();
        if (curve.rim)
            paintDots(painter, curve.dots, curve.dot_size + 2 * style.unit, style.theme.background,
                      style.paths);
        paintDots(painter, curve.dots, curve.dot_size, curve.colour, style.paths);
    }
    flush();
}

void paintGap(QPainter& painter, const GapMark& mark, double unit) {
    const double r = 4 * unit;
    painter.setPen(pen(mark.colour, 1.2 * unit));
    const QPointF& p = mark.at;
    switch (mark.kind) {
        case GapMark::Kind::NaN:
            painter.drawLines(
                QVector<QLineF>{{p + QPointF(-r / 1.5, -2 * r), p + QPointF(r / 1.5, -2 * r / 3)},
                                {p + QPointF(-r / 1.5, -2 * r / 3), p + QPointF(r / 1.5, -2 * r)}});
            break;
        case GapMark::Kind::AboveAll:
            painter.setBrush(mark.colour);
            painter.drawPolygon(
                QPolygonF{p + QPointF(0, unit), p + QPointF(r, 2 * r), p + QPointF(-r, 2 * r)});
            break;
        case GapMark::Kind::BelowAll:
            painter.setBrush(mark.colour);
            painter.drawPolygon(
                QPolygonF{p - QPointF(0, unit), p - QPointF(r, 2 * r), p - QPointF(-r, 2 * r)});
            break;
        case GapMark::Kind::NotPositive: {
            const QPointF tip = p - QPointF(0, unit), right = p - QPointF(-r, 2 * r),
                          left = p - QPointF(r, 2 * r);
            painter.drawLines(QVector<QLineF>{{tip, left}, {left, right}, {right, tip}});
            break;
        }
    }
    painter.setBrush(Qt::NoBrush);
}

/// A text in its box, as text, or, where the style asks for it, as the outlines of its glyphs.
void paintText(QPainter& painter, const QRectF& rect, int flags, const QString& text, const QFont& font,
               const QColor& colour, const RenderStyle& style) {
    if (!style.text_paths) {
        painter.setFont(font);
        painter.setPen(colour);
        painter.drawText(rect, flags | Qt::TextDontClip, text);
        return;
    }
    const QFontMetricsF metrics(font);
    const QRectF box = metrics.boundingRect(rect, flags | Qt::TextDontClip, text);
    QPainterPath path;
    double baseline = box.top() + metrics.ascent();
    for (const QString& row : text.split(u'\n')) {
        const double width = metrics.horizontalAdvance(row);
        const double left = flags & Qt::AlignHCenter ? rect.center().x() - width / 2
                            : flags & Qt::AlignRight ? rect.right() - width
                                                     : rect.left();
        path.addText(left, baseline, font, row);
        baseline += metrics.lineSpacing();
    }
    path.setFillRule(Qt::WindingFill);
    painter.fillPath(path, colour);
}

void paintTexts(QPainter& painter, const std::vector<TextShape>& texts, const RenderStyle& style) {
    for (const auto& text : texts) {
        if (text.background.isValid()) painter.fillRect(text.rect, text.background);
        paintText(painter, text.rect, text.flags, text.text, fontOf(text.font, style), text.colour, style);
    }
}

void paintGlyphs(QPainter& painter, const std::vector<GlyphShape>& glyphs) {
    for (const GlyphShape& shape : glyphs) {
        if (shape.background.isValid()) painter.fillRect(shape.rect, shape.background);
        paintGlyph(painter, shape.rect, shape.glyph, shape.colour);
    }
}

/// The cells as one image, a pixel per cell, so that exports contain one image instead of thousands of boxes;
/// marks, frames and texts above it.
void paintCells(QPainter& painter, const PlotLayout& plot, const RenderStyle& style) {
    int rows = 0, columns = 0;
    for (const auto& cell : plot.cells) {
        rows = std::max(rows, cell.row / plot.merged + 1);
        columns = std::max(columns, cell.column / plot.merged + 1);
    }
    QImage image(columns, rows, QImage::Format_RGB32);
    QRectF target;
    for (const auto& cell : plot.cells) {
        image.setPixel(cell.column / plot.merged, rows - 1 - cell.row / plot.merged, cell.fill.rgb());
        target |= cell.rect;
    }
    // A last merged row or column can be thinner than the others: then boxes are exact, unlike an image.
    const bool even = std::all_of(plot.cells.begin(), plot.cells.end(), [&](const CellShape& c) {
        return std::abs(c.rect.width() - target.width() / columns) < 0.01 &&
               std::abs(c.rect.height() - target.height() / rows) < 0.01;
    });
    if (even) {
        painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
        // Viewers smooth small images: a cell of many dots stays sharp.
        const int dots = style.paths ? std::clamp(1024 / std::max(rows, columns), 1, 32) : 1;
        painter.drawImage(target, dots > 1 ? image.scaled(columns * dots, rows * dots) : image);
    } else {
        for (const auto& cell : plot.cells) painter.fillRect(cell.rect, cell.fill);
    }
    for (const auto& cell : plot.cells) {
        if (cell.mark == CellShape::Mark::NaN)
            paintLines(painter, {hatch(cell.rect, 4 * style.unit), style.theme.bad, style.unit, {}});
        const QString text = cell.mark == CellShape::Mark::Inf ? QStringLiteral("▲") : cell.text;
        if (!text.isEmpty())
            paintText(painter, cell.text_rect.isNull() ? cell.rect : cell.text_rect, Qt::AlignCenter, text,
                      fontOf(cell.font, style), textOn(cell.fill), style);
        paintGlyphs(painter, cell.glyphs);
        paintTexts(painter, cell.counts, style);
    }
    for (const auto& cell : plot.cells) {
        if (cell.best) {
            const double inset = 3 * style.unit;
            painter.setPen(pen(textOn(cell.fill), 1.5 * style.unit));
            painter.drawRect(cell.rect.adjusted(inset, inset, -inset, -inset));
        }
        if (!cell.selected) continue;
        painter.setPen(pen(style.theme.selection, 2 * style.unit));
        painter.drawRect(cell.rect);
    }
}

void paintTicks(QPainter& painter, const PlotLayout& plot, const RenderStyle& style) {
    QVector<QLineF> marks;
    const double major = 4 * style.unit, minor = 2 * style.unit;
    for (const auto& t : plot.x_ticks)
        marks.append({t.at, plot.area.bottom(), t.at, plot.area.bottom() + (t.tick.minor ? minor : major)});
    for (const auto& t : plot.y_ticks)
        marks.append({plot.area.left(), t.at, plot.area.left() - (t.tick.minor ? minor : major), t.at});
    painter.setRenderHint(QPainter::Antialiasing, style.paths);
    painter.setPen(pen(style.theme.axis, 0.8 * style.thin));
    painter.drawLines(marks);
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const auto* ticks : {&plot.x_ticks, &plot.y_ticks}) {
        for (const auto& t : *ticks) {
            if (!t.label_rect.isNull())
                paintText(painter, t.label_rect, Qt::AlignCenter, t.tick.label, style.small,
                          t.colour.isValid() ? t.colour : style.theme.muted, style);
        }
    }
}

void paintPlot(QPainter& painter, const PlotLayout& plot, const RenderStyle& style) {
    painter.setPen(Qt::NoPen);
    for (const auto& area : plot.areas) {
        painter.setBrush(area.colour);
        painter.drawPolygon(area.polygon);
    }
    painter.setBrush(Qt::NoBrush);
    if (!plot.cells.empty()) paintCells(painter, plot, style);
    for (const auto& lines : plot.under) paintLines(painter, lines);
    paintCurves(painter, plot, style);
    for (const auto& mark : plot.gaps) paintGap(painter, mark, style.unit);
    for (const auto& lines : plot.over) paintLines(painter, lines);
    paintTicks(painter, plot, style);
    paintTexts(painter, plot.texts, style);
}

}  // namespace

void paintFigure(QPainter& painter, const FigureLayout& layout, const RenderStyle& style) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    for (const auto& area : layout.areas) {
        painter.setBrush(area.colour);
        painter.drawPolygon(area.polygon);
    }
    painter.setBrush(Qt::NoBrush);
    for (const auto& plot : layout.plots) paintPlot(painter, plot, style);
    for (const auto& lines : layout.lines) paintLines(painter, lines);
    paintGlyphs(painter, layout.glyphs);
    paintTexts(painter, layout.texts, style);
}

}  // namespace normscope::widgets
