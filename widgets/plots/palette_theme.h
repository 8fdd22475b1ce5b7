// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/theme.h"

#include <QPalette>

namespace normscope::widgets {

/// The plots' theme for a palette: dark where its window is dark. The widgets around the plots depend on the
/// palette alone, and a run has the same colour in both.
inline Theme themeOf(const QPalette& palette) {
    const bool dark = palette.color(QPalette::Window).lightness() < 128;
    return Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light);
}

}  // namespace normscope::widgets
