// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

#include <QStringList>

namespace normscope::widgets {

/// A text that cannot be read as it should.
struct Collision {
    enum class Kind { TextOnText, TextOnCurve, OffPage, Elided };
    Kind kind = Kind::TextOnText;
    QRectF where;   ///< of the text, in the layout's unit
    QString text;   ///< the text
    QString other;  ///< of TextOnText: the other one
};

/// All collisions of a layout: texts (titles, names, tick labels, chips, notes) that overlap each other or a
/// curve, leave the page, or are cut short. A text's box is that of its glyphs' advance and of the font's
/// ascent and digits' depth, not the row that it is placed in.
std::vector<Collision> collisionsIn(const FigureLayout& layout, const RenderStyle& style);

/// One sentence each: "'stalled' covers a curve".
QStringList collisionTexts(const std::vector<Collision>& collisions);

}  // namespace normscope::widgets
