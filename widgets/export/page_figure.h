// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/export/figure_exporter.h"

#include <QPointF>

class QPainter;

namespace normscope::widgets {

/// Paints the figure with its upper left corner at `at`, as part of a page of several. The painter's unit is
/// 1/720 inch; format, metadata and dpi of the options have no effect. GUI thread; throws as renderFigure().
void paintFigureInto(QPainter& painter, const QPointF& at, const Figure& figure,
                     const ExportOptions& options);

}  // namespace normscope::widgets
