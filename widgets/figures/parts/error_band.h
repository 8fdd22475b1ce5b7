// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

namespace normscope::widgets {

/// Adds the curve's standard error (y_error) to the plot, as a band of ±1 error in the curve's role, where it
/// is wider than the line somewhere; otherwise, and without errors, nothing is added. The scale of plot.y
/// must be set: on a log axis the band is y·exp(±error/|y|), the same to first order and positive for any
/// error, and at most a decade wide on either side.
void addErrorBand(Plot& plot, const Curve& curve);

}  // namespace normscope::widgets
