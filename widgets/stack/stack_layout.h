// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/stack/norm_override.h"

#include <QRectF>

namespace normscope::widgets {

/// The geometry of the stack view in pixels, output on top: a header, the ribbons of all layers on the left,
/// the layers in view next to them, a legend. Its height is the same for every stack, and so is the place of
/// everything but the layers in view, so that a depth that is dragged moves nothing around it.
///
/// The view holds kLayersInView whole layers and, at the ends of the scroll range, the embedding below them
/// or the boxes of final norm and head above; a shallower stack is in view as a whole.
struct StackLayout {
    static constexpr double kHeight = 376;  ///< of everything
    static constexpr double kMinWidth = 268;
    static constexpr double kRow = 30;  ///< one sub-layer
    static constexpr int kLayersInView = 5;

    int depth = 1;
    int scroll = 0;  ///< in [0, lastScroll()]: layers below the view
    double width = kMinWidth;

    QRectF header() const;
    QRectF ribbons() const;
    QRectF view() const;  ///< of the layers
    QRectF legend() const;

    static int lastScroll(int depth);
    int firstInView() const;  ///< layers from 0
    int lastInView() const;
    bool inView(int layer) const { return firstInView() <= layer && layer <= lastInView(); }
    bool embeddingInView() const { return scroll == 0; }
    bool headInView() const { return scroll == lastScroll(depth); }
    /// The scroll position nearest to this one that has the layer in view.
    int scrollTo(int layer) const;

    /// The layer in view at a height, or −1.
    int layerAt(double y) const;
    /// The two rows of a layer; outside of the view where it is not in it.
    QRectF layerRect(int layer) const;
    QRectF embedding() const;
    QRectF head() const;        ///< with the final norm, where there is one
    double residual() const;    ///< x of the residual stream
    double y(int state) const;  ///< of the hidden state 0 … 2 depth on the residual stream

  private:
    double bottom() const;
};

/// `scroll` is clamped.
StackLayout layoutStack(int depth, int scroll, double width);

/// The row of a sub-layer within its layer: attention below, feed-forward above it.
QRectF sublayerRect(const QRectF& layer, Sublayer kind);

/// The parts of a sub-layer's row, from left to right; λ is the scale of the branch.
struct SublayerBoxes {
    QRectF number, in, map, out, scale, sum, post;
    const QRectF& chip(NormPlace place) const;
};
SublayerBoxes sublayerBoxes(const QRectF& row);

/// The head and the final norm before it, which the residual stream enters, side by side.
struct HeadBoxes {
    QRectF head, norm;  ///< norm is null without a final norm
};
HeadBoxes headBoxes(const QRectF& both, bool final_norm);

}  // namespace normscope::widgets
