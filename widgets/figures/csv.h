// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"
#include "widgets/figures/view_state.h"

#include <QByteArray>
#include <QString>

namespace normscope::widgets {

/// The contents of a figure as a table (UTF-8, one header, a line per point), the same text for the same
/// figure:
///     plot,kind,series,x,x_name,y,value,low,high,run,step,error,n
/// kind is measured, draft, ghost, preview, bound, stem, reference (value, or x for a vertical line), band
/// (low, high), median (of a group of runs: value, with low and high of its band and n, the number of runs
/// that have a value there) or cell (x, y = column, row from 0; value = the raw one). y is for cells alone.
/// step is the step of measurement (x where x is the step), error the standard error of a point; both empty
/// if unknown. Numbers read back as the same doubles; a gap is NaN or inf. Points outside a range set by the
/// user or the panel are omitted.
QByteArray csvText(const Figure& figure, const PlotViewState& view = {});

/// Writes csvText() to a file atomically. Throws SystemError where it cannot be written.
void exportCsv(const Figure& figure, const PlotViewState& view, const QString& path);

}  // namespace normscope::widgets
