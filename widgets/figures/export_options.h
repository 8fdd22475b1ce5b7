// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/view_state.h"

#include <QSizeF>
#include <QString>

namespace normscope::widgets {

enum class ThemeKind { Light, Dark, Print };

/// Where the names of curves are placed.
enum class LegendPlace { Direct, Below, None };

enum class FileFormat { Svg, Pdf, Png };

/// Size and style of an exported figure.
struct ExportOptions {
    FileFormat format = FileFormat::Svg;
    QSizeF size_mm = {85, 60};  ///< 10 … 2000 each
    double font_pt = 8;         ///< text; ticks are 7/8 of it; 2 … 100
    ThemeKind theme = ThemeKind::Print;
    LegendPlace legend = LegendPlace::Direct;
    bool title = true;
    QString title_text = {};  ///< in place of the figure's own; empty: that one
    bool ratio = true;        ///< the strip of ratios, where the figure has one
    bool text_paths = false;  ///< texts as outlines: the same in any program, but no longer text
    PlotViewState view;       ///< zoom and log switches
    QString metadata;         ///< the recipe as JSON, kept inside the file
    int dpi = 300;            ///< PNG only; 30 … 2400
};

}  // namespace normscope::widgets
