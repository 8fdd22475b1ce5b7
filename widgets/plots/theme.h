// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/export_options.h"
#include "widgets/figures/figure.h"

#include <QColor>
#include <QFont>
#include <QVector>

namespace normscope::widgets {

/// Maps roles to colours and dashes; the only place where light, dark and print differ. Run colours keep a
/// contrast of at least 4.5 against the plot's background, so that they also serve as text, and differ in
/// lightness as well as hue; the dash is the second channel for colour-blind readers and greyscale print.
struct Theme {
    using Kind = ThemeKind;

    Kind kind = Kind::Light;
    QColor background, text, muted, grid, axis;
    QColor ghost;      ///< old curves while a knob is dragged
    QColor bad;        ///< NaN: magenta
    QColor neutral;    ///< neutral cells
    QColor selection;  ///< frame of the selected cell, rubber band

    static Theme make(Kind kind);
    bool isDark() const { return kind == Kind::Dark; }

    /// Colours repeat after eight runs; negative indices count as 0.
    QColor run(int index) const;
    QColor colour(const Role& role) const;
};

/// The family of all texts: "Inter" where it is installed, else `fallback`. Needs a QGuiApplication.
QString typeFace(const QString& fallback = QStringLiteral("DejaVu Sans"));

/// Dash pattern by run index in pen widths, empty = solid: solid, dashed, dotted, dash-dot, long dashes,
/// short dashes.
QVector<qreal> runDash(int index);

/// The style of a figure for screen or paper, apart from its data. Lengths are in the unit of the target:
/// pixels on screen, tenths of a point on paper.
struct RenderStyle {
    Theme theme;
    QFont text, small, title;    ///< their pixelSize is in that unit
    double line = 1.5;           ///< width of a measured curve
    double thin = 1;             ///< bounds, drafts, ghosts, axes
    double column = 1;           ///< decimation: two points this near are one pixel
    double pixel = 1;            ///< screen: a device pixel, less than 1 where the display is scaled
    double unit = 1;             ///< one pixel at 13 px text size; scales dots, gaps, chips
    bool paths = false;          ///< one path per curve (paper) instead of the faster line segments (screen)
    bool texts_outside = false;  ///< paper: a text that would cover a curve is placed in rows under the plots
    bool text_paths = false;     ///< texts as outlines of their glyphs instead of text in a font
    bool axis_names_inline = false;  ///< screen: the name of x at the end of its tick labels, not under them
    double margin = 6;               ///< around everything, in `unit`
    bool show_title = true;
    LegendPlace legend = LegendPlace::Direct;
};

/// The strength of what was measured at another step than the one asked for (Curve::aged), and its colour.
inline constexpr double kAgedStrength = 0.5;
QColor aged(const RenderStyle& style, const QColor& colour);

/// Screen: text of `text_px` pixels, ticks a little smaller. 13 px is the normal window; presentation mode
/// passes 24 and 3.
RenderStyle screenStyle(const Theme& theme, int text_px = 13, double line_px = 1.5);

/// Paper, in tenths of a point: `font_pt` text, 7/8 of it at the ticks, 0.75 pt lines.
RenderStyle paperStyle(const Theme& theme, double font_pt = 8);

inline constexpr double kPaperUnitsPerInch = 720;

}  // namespace normscope::widgets
