// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/stack/norm_override.h"

#include <QRectF>
#include <vector>

namespace normscope::widgets {

/// The geometry of a stack in pixels, output on top. Its height is the same for every stack, so that a depth
/// that is dragged moves nothing around it. Up to kFullLayers layers all are drawn in full; above, only the
/// selected one and its neighbours, with the first and the last where the others keep kThin, and the others
/// as thin rows.
struct StackLayout {
    static constexpr int kFullLayers = 6;
    static constexpr double kLine = 21;     ///< height of one sub-layer
    static constexpr double kThin = 6;      ///< height of a thin row, as long as they fit
    static constexpr double kHeight = 346;  ///< of everything

    struct Part {
        enum class Kind { Head, FinalNorm, Layer, Thin, Embedding };
        Kind kind;
        int first, last;  ///< layers, from 0; equal for Layer, −1 where the part is no layer
        QRectF rect;
    };
    std::vector<Part> parts;  ///< from the top
    double height = kHeight;
    double thin = kThin;  ///< height of one layer in Thin parts; under 2, rows share pixels

    /// The layer at a height, or −1.
    int layerAt(double y) const;
    /// The part that contains a layer.
    const Part& partOf(int layer) const;
    /// The rectangle of a layer, thin or full.
    QRectF layerRect(int layer) const;
};

/// `selected` in [0, depth).
StackLayout layoutStack(int depth, int selected, double width, bool final_norm);

/// The line of a sub-layer within a full layer: attention below, feed-forward above it.
QRectF sublayerRect(const QRectF& layer, Sublayer kind);

/// The boxes of a sub-layer's line, from left to right.
struct SublayerBoxes {
    QRectF in, map, out, sum, post;
    const QRectF& chip(NormPlace place) const;
};
SublayerBoxes sublayerBoxes(const QRectF& line);

}  // namespace normscope::widgets
