// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QFontMetrics>
#include <QString>

namespace normscope::widgets {

// Sizes of painted texts, in pixels. Interface thread.

/// The font in another size and weight.
inline QFont sized(QFont font, int px, QFont::Weight weight = QFont::Normal) {
    font.setPixelSize(px);
    font.setWeight(weight);
    return font;
}

inline int lineHeight(const QFont& font) {
    return QFontMetrics(font).lineSpacing();
}

/// Of a text wrapped at words; 0 of none.
inline int heightOf(const QFont& font, int width, const QString& text) {
    if (text.isEmpty()) return 0;
    return QFontMetrics(font)
        .boundingRect(QRect(0, 0, width, 10000), Qt::TextWordWrap | Qt::AlignLeft, text)
        .height();
}

}  // namespace normscope::widgets
