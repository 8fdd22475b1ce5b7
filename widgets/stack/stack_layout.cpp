// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_layout.h"

#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr double kHeader = 32, kStackLayoutTop = 34, kLegend = 20;
constexpr double kEnd = 20;               // embedding; final norm and head
constexpr double kStackLayoutMargin = 8;  // right of the rows
constexpr double kRibbons = 64;  // with their layer numbers, at the least width; what is wider is theirs
constexpr double kBoxes = 175;   // from the input norm's chip to the post norm's
constexpr double kBox = 18;      // height

}  // namespace

QRectF StackLayout::header() const {
    return {0, 0, width, kHeader};
}

QRectF StackLayout::ribbons() const {
    return {0, kStackLayoutTop, kRibbons + width - kMinWidth, kHeight - kLegend - kStackLayoutTop};
}

QRectF StackLayout::view() const {
    const double left = ribbons().right();
    return {left, kStackLayoutTop, width - kStackLayoutMargin - left, kLayersInView * 2 * kRow + kEnd};
}

QRectF StackLayout::legend() const {
    return {0, kHeight - kLegend, width - kStackLayoutMargin, kLegend};
}

int StackLayout::lastScroll(int depth) {
    // One more than the layers below the view: the last step brings the head into view.
    return std::max(0, depth - kLayersInView + 1);
}

int StackLayout::firstInView() const {
    return std::clamp(depth - kLayersInView, 0, scroll);
}

int StackLayout::lastInView() const {
    return std::min(depth, firstInView() + kLayersInView) - 1;
}

int StackLayout::scrollTo(int layer) const {
    if (layer < firstInView()) return layer;
    if (layer > lastInView()) return layer - kLayersInView + 1;
    return scroll;
}

double StackLayout::bottom() const {
    const double below = 2 * kRow * depth + 2 * kEnd - view().height();
    return view().bottom() + std::min(2 * kRow * scroll, std::max(0.0, below));
}

int StackLayout::layerAt(double y) const {
    for (int layer = firstInView(); layer <= lastInView(); ++layer) {
        const QRectF rect = layerRect(layer);
        if (y >= rect.top() && y < rect.bottom()) return layer;
    }
    return -1;
}

QRectF StackLayout::layerRect(int layer) const {
    return {view().left(), y(2 * layer + 2), view().width(), 2 * kRow};
}

double StackLayout::y(int state) const {
    return bottom() - kEnd - kRow * state;
}

QRectF StackLayout::embedding() const {
    return {view().right() - kBoxes, y(0) + 2, kBoxes, kBox};
}

QRectF StackLayout::head() const {
    return {view().right() - kBoxes, y(2 * depth) - kEnd, kBoxes, kBox};
}

double StackLayout::residual() const {
    return sublayerBoxes(sublayerRect(layerRect(0), Sublayer::Attention)).sum.center().x();
}

StackLayout layoutStack(int depth, int scroll, double width) {
    return {depth, std::clamp(scroll, 0, StackLayout::lastScroll(depth)),
            std::max(width, StackLayout::kMinWidth)};
}

QRectF sublayerRect(const QRectF& layer, Sublayer kind) {
    const double half = layer.height() / 2;
    return {layer.left(), layer.top() + (kind == Sublayer::Attention ? half : 0), layer.width(), half};
}

const QRectF& SublayerBoxes::chip(NormPlace place) const {
    return place == NormPlace::In ? in : place == NormPlace::Out ? out : post;
}

SublayerBoxes sublayerBoxes(const QRectF& row) {
    const double left = row.right() - kBoxes, top = row.center().y() - kBox / 2;
    const auto round = [&](double x, double side) {
        return QRectF(left + x, row.center().y() - side / 2, side, side);
    };
    SublayerBoxes boxes;
    boxes.number = {row.left(), row.top(), left - 4 - row.left(), row.height()};
    boxes.in = {left, top, 20, kBox};
    boxes.map = {left + 24, top, 52, kBox};
    boxes.out = {left + 81, top, 25, kBox};
    boxes.scale = round(110, 12);
    boxes.sum = round(125, 14);
    boxes.post = {left + 145, top, 30, kBox};
    return boxes;
}

HeadBoxes headBoxes(const QRectF& both, bool final_norm) {
    if (!final_norm) return {both, {}};
    constexpr double kShare = 0.42, kSpace = 8;
    const double head = both.width() * kShare;
    return {QRectF(both.left(), both.top(), head, both.height()), both.adjusted(head + kSpace, 0, 0, 0)};
}

}  // namespace normscope::widgets
