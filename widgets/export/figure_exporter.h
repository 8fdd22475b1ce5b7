// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/export_options.h"
#include "widgets/figures/figure.h"
#include "widgets/plots/collisions.h"

#include <QByteArray>
#include <QSizeF>
#include <QString>

namespace normscope::widgets {

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
