// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/theme.h"

#include "widgets/plots/colour_map.h"

#include <QFontDatabase>
#include <algorithm>
#include <array>
#include <cmath>

namespace normscope::widgets {
namespace {

// The first six differ for red- and green-blind eyes too; all read as text on their background.
constexpr std::array<QRgb, 8> kOnWhite = {0xff0f63c9, 0xffb84f00, 0xff2b6b12, 0xffb8388f,
                                          0xff0b4d5c, 0xff4413bf, 0xff7d6200, 0xff5a5a5a};
constexpr std::array<QRgb, 8> kOnBlack = {0xff82b4ff, 0xfff2ae70, 0xff45a81a, 0xffe55a9a,
                                          0xff7fedee, 0xffa070ff, 0xffe3c65c, 0xffb5b9bf};

/// Inter, with the signs that it lacks from DejaVu Sans; that alone, in the width given, without Inter.
QFont font(const QString& fallback, double pixels, bool bold = false) {
    const QString family = typeFace(fallback);
    QFont font(family == fallback ? QStringList{family} : QStringList{family, fallback});
    font.setStyleHint(QFont::SansSerif);
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels))));
    if (bold) font.setWeight(QFont::DemiBold);
    return font;
}

}  // namespace

Theme Theme::make(Kind kind) {
    Theme t;
    t.kind = kind;
    if (kind == Kind::Dark) {
        t.background = QColor(0x1a, 0x1d, 0x21);
        t.text = QColor(0xe8, 0xea, 0xed);
        t.muted = QColor(0xa6, 0xad, 0xb5);
        t.grid = QColor(0x2e, 0x33, 0x39);
        t.axis = QColor(0x6d, 0x75, 0x7e);
        t.ghost = QColor(0x6a, 0x70, 0x78);
        t.bad = QColor(0xff, 0x5c, 0xff);
        t.neutral = QColor(0x3a, 0x3f, 0x45);
        t.selection = QColor(0xff, 0xff, 0xff);
        return t;
    }
    const bool print = kind == Kind::Print;
    t.background = Qt::white;
    t.text = print ? QColor(Qt::black) : QColor(0x1f, 0x23, 0x28);
    t.muted = print ? QColor(0x40, 0x40, 0x40) : QColor(0x5a, 0x62, 0x6b);
    t.grid = QColor(0xe6, 0xe8, 0xeb);
    t.axis = print ? QColor(0x40, 0x40, 0x40) : QColor(0x8c, 0x94, 0x9c);
    t.ghost = QColor(0xb4, 0xb9, 0xbf);
    t.bad = QColor(0xd0, 0x00, 0xd0);
    t.neutral = QColor(0xdc, 0xde, 0xe1);
    t.selection = Qt::black;
    return t;
}

QColor Theme::run(int index) const {
    const auto& palette = isDark() ? kOnBlack : kOnWhite;
    return QColor(palette[static_cast<std::size_t>(std::max(0, index)) % palette.size()]);
}

QColor Theme::colour(const Role& role) const {
    return role.kind == Role::Kind::Run ? run(role.run) : sequentialColour(role.position, isDark());
}

QVector<qreal> runDash(int index) {
    static const std::array<QVector<qreal>, 6> patterns = {
        QVector<qreal>{},     QVector<qreal>{3.5, 2}, QVector<qreal>{1, 1.75}, QVector<qreal>{5, 1.5, 1, 1.5},
        QVector<qreal>{7, 2}, QVector<qreal>{2, 1.25}};
    return patterns[static_cast<std::size_t>(std::max(0, index)) % patterns.size()];
}

QString typeFace(const QString& fallback) {
    static const bool inter = QFontDatabase::families().contains(QStringLiteral("Inter"));
    return inter ? QStringLiteral("Inter") : fallback;
}

QColor aged(const RenderStyle& style, const QColor& colour) {
    return blend(style.theme.background, colour, kAgedStrength);
}

RenderStyle screenStyle(const Theme& theme, int text_px, double line_px) {
    RenderStyle style;
    style.theme = theme;
    const QString family = QStringLiteral("DejaVu Sans");
    style.text = font(family, text_px - 1);
    style.small = font(family, text_px - 2);
    style.title = font(family, text_px, true);
    style.line = line_px;
    style.thin = std::max(1.0, line_px / 1.5);
    style.unit = text_px / 13.0;
    style.axis_names_inline = true;
    style.margin = 4;
    return style;
}

RenderStyle paperStyle(const Theme& theme, double font_pt) {
    RenderStyle style;
    style.theme = theme;
    const QString family = QStringLiteral("DejaVu Sans Condensed");  // narrow and open
    style.text = font(family, 10 * font_pt);
    style.small = font(family, 10 * font_pt * 7 / 8);
    style.title = font(family, 10 * font_pt, true);
    style.line = 7.5;
    style.thin = 5;
    style.column = 1.2;  // 600 per inch
    style.unit = 10 * font_pt / 13.0;
    style.paths = true;
    style.texts_outside = true;
    return style;
}

}  // namespace normscope::widgets
