// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/collisions.h"
#include "widgets/plots/figure.h"
#include "widgets/plots/theme.h"
#include "widgets/plots/view_state.h"

#include <QByteArray>
#include <QSizeF>
#include <QString>

namespace normscope::widgets {

enum class FileFormat { Svg, Pdf, Png };

/// Size and style of an exported figure.
struct ExportOptions {
    FileFormat format = FileFormat::Svg;
    QSizeF size_mm = {85, 60};  ///< 10 … 2000 each
    double font_pt = 8;         ///< text; ticks are 7/8 of it; 2 … 100
    Theme::Kind theme = Theme::Kind::Print;
    LegendPlace legend = LegendPlace::Direct;
    bool title = true;
    bool ratio = true;        ///< the strip of ratios, where the figure has one
    bool text_paths = false;  ///< texts as outlines: the same in any program, but no longer text
    PlotViewState view;       ///< zoom and log switches
    QString metadata;         ///< the recipe as JSON, kept inside the file
    int dpi = 300;            ///< PNG only; 30 … 2400
};

/// The figure as the bytes of a file, the same bytes for the same figure and options in any process: no
/// dates. SVG and PDF: one path per curve, text as text (PDF: fonts embedded), maps as lossless images;
/// metadata in SVG's <desc>, PDF's XMP description, PNG's Description text. Needs a QApplication (any
/// platform, offscreen too), GUI thread. Throws InputError on options out of range, naming the option and
/// what is allowed.
QByteArray renderFigure(const Figure& figure, const ExportOptions& options);

/// What could not be placed without overlap at this size (collisions.h); the unit is 1/720 inch. Throws as
/// renderFigure() does.
std::vector<Collision> collisionsOf(const Figure& figure, const ExportOptions& options);

/// Writes renderFigure() to a file atomically. Throws as it does, and SystemError where the file cannot be
/// written.
void exportFigure(const Figure& figure, const ExportOptions& options, const QString& path);

/// The format of a file name's extension: .svg, .pdf, .png. Throws InputError on others.
FileFormat formatOf(const QString& path);

}  // namespace normscope::widgets
