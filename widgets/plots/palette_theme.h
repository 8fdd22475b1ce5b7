// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/theme.h"

#include <QPalette>

namespace normscope::widgets {

/// The plots' theme that goes with a palette: dark where its window is dark. So the widgets around the plots
/// follow the palette alone, and a run has one colour in both.
inline Theme themeOf(const QPalette& palette) {
    const bool dark = palette.color(QPalette::Window).lightness() < 128;
    return Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light);
}

}  // namespace normscope::widgets
