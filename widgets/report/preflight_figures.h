// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preflight/preflight.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/figure.h"

#include <array>

namespace normscope::widgets {

/// The figures of a report, as their panels draw them at step 0: growth with its bounds, gradients by depth,
/// Lipschitz bounds with the gains found, W₂ of perturbed inputs with its bound.
std::array<Figure, 4> preflightFigures(const Preflight& preflight);

/// The size and style that reports draw them in; without the recipe, which a report has once.
ExportOptions preflightPaper(const QSizeF& size_mm);

}  // namespace normscope::widgets
