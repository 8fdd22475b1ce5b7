// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/axis_range.h"
#include "widgets/figures/figure.h"
#include "widgets/plots/geometry/ticks.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/theme.h"

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <QVector>
#include <optional>
#include <vector>

namespace normscope::widgets {

/// A figure converted to geometry: everything that is drawn, in pixels (or tenths of a point), as plain data.
/// The painter only iterates over it; tests compare it instead of pixels.

struct TextShape {
    enum class Font { Text, Small, Title };
    QRectF rect;
    int flags = 0;  ///< Qt::Alignment
    QString text;
    QColor colour;
    Font font = Font::Small;
    QColor background;  ///< of the text; invalid = none
};

struct LineShape {
    QVector<QLineF> lines;
    QColor colour;
    double width = 1;
    QVector<qreal> dash;  ///< in pen widths
};

struct AreaShape {
    QPolygonF polygon;
    QColor colour;  ///< alpha included
};

/// Where a curve has no value that its axis can show, at the first point of each run of such points.
struct GapMark {
    enum class Kind { NaN, AboveAll, BelowAll, NotPositive };  ///< AboveAll = +Inf, BelowAll = −Inf
    QPointF at;  ///< on the upper frame for AboveAll, else on the lower one
    Kind kind = Kind::NaN;
    QColor colour;
};

struct CurveShape {
    std::size_t curve = 0;  ///< index in Plot::curves
    QColor colour;
    double width = 1;
    QVector<qreal> dash;            ///< in pen widths; empty = solid
    std::vector<QPolygonF> pieces;  ///< decimated, cut at gaps, clipped to the plot area
    QVector<QPointF> dots;          ///< markers, and points with a gap on both sides
    double dot_size = 0;
    bool rim = false;  ///< of the dots, in the background's colour: they lie on the lines of other curves
    /// Of a curve with more points than pixel columns, on a screen: a line for each column of device pixels
    /// from its lowest to its highest point, which is drawn instead of the pieces, some ten times as fast.
    QVector<QLineF> columns = {};
};

/// A glyph, on a box where it is drawn over hatching.
struct GlyphShape {
    QRectF rect;
    Glyph glyph = Glyph::Dot;
    QColor colour, background = {};
};

struct CellShape {
    enum class Mark { None, NaN, Inf };
    QRectF rect;
    int row = 0, column = 0;  ///< of the map; the lowest of the cells when several were merged
    QColor fill;
    QString text;
    Mark mark = Mark::None;
    bool selected = false;
    bool best = false;      ///< framed
    QRectF text_rect = {};  ///< null = the middle of the cell
    TextShape::Font font = TextShape::Font::Small;
    std::vector<GlyphShape> glyphs = {};
    std::vector<TextShape> counts = {};  ///< of glyphs that represent several runs
};

struct TickShape {
    Tick tick;
    double at = 0;       ///< pixel along the axis
    QRectF label_rect;   ///< null where the label is not drawn
    QColor colour = {};  ///< of the label; invalid = muted
};

/// Neighbouring flags that share one text, because theirs do not fit between their poles.
struct FlagShape {
    std::size_t first = 0, count = 0;  ///< in Plot::flags
    QRectF pennants, text_rect;        ///< the text is right or left of its pole; null where none fits
    QString text;                      ///< empty where none fits
    std::vector<double> poles;         ///< pixels along x, ascending
};

/// Evenly spaced grid lines in axis coordinates (log10 of the value on a log axis).
struct GridSteps {
    double anchor = 0, interval = 1;
};

struct PlotLayout {
    QRectF area;  ///< the plot area proper
    AxisMap x, y;
    std::vector<TickShape> x_ticks, y_ticks;
    std::optional<GridSteps> x_grid, y_grid;  ///< none in maps and where ticks are uneven
    std::vector<AreaShape> areas;
    std::vector<LineShape> under, over;  ///< below and above the curves
    std::vector<CurveShape> curves;
    std::vector<GapMark> gaps;
    std::vector<CellShape> cells;
    std::vector<FlagShape> flags;
    int merged = 1;  ///< cells of the map per drawn cell along each side
    std::vector<TextShape> texts;
};

struct FigureLayout {
    QSizeF size;
    std::vector<PlotLayout> plots;
    std::vector<AreaShape> areas;    ///< outside the plots: the colour key
    std::vector<LineShape> lines;    ///< outside the plots: legend swatches
    std::vector<GlyphShape> glyphs;  ///< of the key of states
    std::vector<TextShape> texts;    ///< title, empty text, legend, notes
};

/// Lays a figure out in `size`. Any size and any data give a layout; a figure with nothing to show gives its
/// empty_text.
FigureLayout layoutFigure(const Figure& figure, const QSizeF& size, const RenderStyle& style);

/// The plot whose area holds (or, below the plots' margins, lies nearest above or below) this position, −1 if
/// none.
int plotAt(const FigureLayout& layout, const QPointF& position);

}  // namespace normscope::widgets
