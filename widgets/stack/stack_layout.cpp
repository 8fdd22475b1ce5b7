// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_layout.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Kind = StackLayout::Part::Kind;

constexpr double kEnd = 20;     // head, final norm, embedding
constexpr double kGap = 3;      // between parts
constexpr double kMargin = 6;   // left and right of everything
constexpr double kNumber = 32;  // left of the boxes: colour strip and layer number

/// The layers drawn in full, and the height of a thin row.
struct Division {
    std::vector<bool> full;
    double thin = StackLayout::kThin;
};

Division divide(int depth, int selected, bool ends, double space) {
    Division division{std::vector<bool>(static_cast<std::size_t>(depth), depth <= StackLayout::kFullLayers)};
    if (depth <= StackLayout::kFullLayers) return division;
    const int middle = std::clamp(selected, 1, depth - 2);
    for (int layer = middle - 1; layer <= middle + 1; ++layer)
        division.full[static_cast<std::size_t>(layer)] = true;
    if (ends) division.full.front() = division.full.back() = true;
    int thin = 0, parts = 0;
    for (std::size_t i = 0; i < division.full.size(); ++i) {
        thin += !division.full[i];
        parts += division.full[i] || i == 0 || division.full[i - 1];
        space -= division.full[i] ? 2 * StackLayout::kLine : 0;
    }
    space -= parts * kGap;
    division.thin = std::min(StackLayout::kThin, space / std::max(1, thin));
    return division;
}

}  // namespace

StackLayout layoutStack(int depth, int selected, double width, bool final_norm) {
    StackLayout layout;
    const int ends = final_norm ? 3 : 2;
    const double space = StackLayout::kHeight - ends * kEnd - (ends - 1) * kGap;
    Division division = divide(depth, selected, true, space);
    if (division.thin < StackLayout::kThin) division = divide(depth, selected, false, space);
    layout.thin = division.thin;
    const auto full = [&](int layer) { return division.full[static_cast<std::size_t>(layer)]; };

    double y = 0;
    const auto add = [&](Kind kind, int first, int last, double height) {
        layout.parts.push_back({kind, first, last, QRectF(kMargin, y, width - 2 * kMargin, height)});
        y += height + kGap;
    };
    add(Kind::Head, -1, -1, kEnd);
    if (final_norm) add(Kind::FinalNorm, -1, -1, kEnd);
    for (int layer = depth - 1; layer >= 0;) {
        if (full(layer)) {
            add(Kind::Layer, layer, layer, 2 * StackLayout::kLine);
            --layer;
            continue;
        }
        const int last = layer;
        while (layer >= 0 && !full(layer)) --layer;
        add(Kind::Thin, layer + 1, last, (last - layer) * layout.thin);
    }
    add(Kind::Embedding, -1, -1, kEnd);
    // The embedding stays at the bottom: a deeper stack grows upwards.
    const double down = StackLayout::kHeight - (y - kGap);
    for (StackLayout::Part& part : layout.parts) part.rect.translate(0, down);
    return layout;
}

int StackLayout::layerAt(double y) const {
    for (const Part& part : parts) {
        if (part.first < 0 || y < part.rect.top() || y >= part.rect.bottom()) continue;
        if (part.kind == Kind::Layer) return part.first;
        return std::max(part.first, part.last - static_cast<int>((y - part.rect.top()) / thin));
    }
    return -1;
}

const StackLayout::Part& StackLayout::partOf(int layer) const {
    return *std::find_if(parts.begin(), parts.end(),
                         [layer](const Part& part) { return part.first <= layer && layer <= part.last; });
}

QRectF StackLayout::layerRect(int layer) const {
    const Part& part = partOf(layer);
    if (part.kind == Kind::Layer) return part.rect;
    return {part.rect.left(), part.rect.top() + (part.last - layer) * thin, part.rect.width(), thin};
}

QRectF sublayerRect(const QRectF& layer, Sublayer kind) {
    const double half = layer.height() / 2;
    return {layer.left(), layer.top() + (kind == Sublayer::Attention ? half : 0), layer.width(), half};
}

const QRectF& SublayerBoxes::chip(NormPlace place) const {
    return place == NormPlace::In ? in : place == NormPlace::Out ? out : post;
}

SublayerBoxes sublayerBoxes(const QRectF& line) {
    constexpr double kIn = 30, kOut = 34, kSum = 14, kPost = 40, kSpace = 5;
    const double top = line.top() + 2, height = line.height() - 4;
    const double map = std::max(40.0, line.width() - kNumber - kIn - kOut - kSum - kPost - 4 * kSpace);
    double x = line.left() + kNumber;
    const auto next = [&](double width) {
        const QRectF box(x, top, width, height);
        x += width + kSpace;
        return box;
    };
    SublayerBoxes boxes;
    boxes.in = next(kIn);
    boxes.map = next(map);
    boxes.out = next(kOut);
    boxes.sum = next(kSum);
    boxes.post = next(kPost);
    return boxes;
}

}  // namespace normscope::widgets
