// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

#include <QString>

namespace normscope::widgets {

/// Which map of the jacobian probe is drawn, in words for an axis title ("block of a token") and, from
/// the sample's labels, for a subtitle ("full map, first 8 of 64 tokens"). `block` is the panel's option.
QString mapTitle(const std::string& block);
QString mapName(const ProbeResult& sample, const std::string& block);

/// The largest singular value of each sub-layer's block at each measured token of sequence 1, a line a token.
void drawPositions(Figure& figure, const PanelInput& input);

/// The largest and the smallest singular value of each sub-layer's full map with their error bands, and the
/// stack's.
void drawFullMap(Figure& figure, const PanelInput& input);

}  // namespace normscope::widgets
