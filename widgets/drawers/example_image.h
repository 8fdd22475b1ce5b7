// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/panels/panel_example.h"
#include "widgets/plots/theme.h"

#include <QFont>
#include <QImage>

namespace normscope::widgets {

/// Both curves of an example next to each other on one scale, with their extremes in numbers; logarithmic
/// where the values span more than a factor of 20. `over_steps`: x on log₂(1 + step). `scale`: device pixels
/// a pixel.
QImage exampleImage(const PanelExample& example, bool over_steps, const Theme& theme, const QFont& font,
                    int width, double scale);

/// The same in words: "Pre-LN, learned: 0.963 to 23.3".
QString exampleText(const PanelExample& example);

}  // namespace normscope::widgets
