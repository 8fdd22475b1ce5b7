// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

namespace normscope::widgets {

/// The font in another size, in pixels, and weight.
inline QFont sized(QFont font, int px, QFont::Weight weight = QFont::Normal) {
    font.setPixelSize(px);
    font.setWeight(weight);
    return font;
}

}  // namespace normscope::widgets
