// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// Rows of text under the plots: the names of curves (LegendPlace::Below) and the figure's notes. Each takes
/// its rows from the bottom of `content` and returns what is left of it.
QRectF addLegendRows(const Figure& figure, const RenderStyle& style, QRectF content, FigureLayout& layout);
QRectF addNoteRows(const std::vector<Note>& notes, const RenderStyle& style, QRectF content,
                   FigureLayout& layout);

/// The figure's colour key, at the right of `content`; returns what is left of it.
QRectF addColourKey(const ColourKey& key, const RenderStyle& style, QRectF content, FigureLayout& layout);

/// The glyphs of a map of runs with their words (✓ finished  ✕ diverged), and the frame of the best cell, in
/// a row at the bottom of `content`; returns what is left of it.
QRectF addStateKey(const std::vector<RunState>& states, const RenderStyle& style, QRectF content,
                   FigureLayout& layout);

}  // namespace normscope::widgets
