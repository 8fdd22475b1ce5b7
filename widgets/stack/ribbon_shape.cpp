// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/ribbon_shape.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kDecades = 4;  // from 10⁻⁴ to 1

bool isMeasured(double gradient) {
    return !std::isnan(gradient);
}

}  // namespace

double gradientWidth(double gradient, double most) {
    if (!isMeasured(gradient)) return gradient;
    const double position = gradient > 0 ? 1 + std::log10(gradient) / kDecades : 0;
    return 1 + (most - 1) * std::clamp(position, 0.0, 1.0);
}

QPainterPath ribbonShape(const std::vector<double>& gradient, double x, double most,
                         const std::function<double(int)>& y) {
    QPainterPath path;
    const int states = static_cast<int>(gradient.size());
    const auto measured = [&](int k) {
        return k >= 0 && k < states && isMeasured(gradient[static_cast<std::size_t>(k)]);
    };
    for (int first = 0; first < states; ++first) {
        if (!measured(first)) continue;
        int last = first;
        while (measured(last + 1)) ++last;
        std::vector<QPointF> right;  // half a width and the height
        for (int k = first; k <= last; ++k)
            right.push_back({gradientWidth(gradient[static_cast<std::size_t>(k)], most) / 2, y(k)});
        if (first == last) {
            const double half = right.front().x();
            const auto towards = [&](int k) { return (y(first) + y(std::clamp(k, 0, states - 1))) / 2; };
            right = {{half, towards(first - 1)}, {half, towards(first + 1)}};
        }
        path.moveTo(x + right.front().x(), right.front().y());
        for (std::size_t i = 1; i < right.size(); ++i) path.lineTo(x + right[i].x(), right[i].y());
        for (std::size_t i = right.size(); i-- > 0;) path.lineTo(x - right[i].x(), right[i].y());
        path.closeSubpath();
        first = last;
    }
    return path;
}

std::vector<int> labelledLayers(int depth, double height, double apart) {
    const double pitch = height / depth;  // of a layer
    constexpr double kGenerous = 3;       // every layer where labels are so many times their distance apart
    int stride = pitch >= kGenerous * apart ? 1 : 2;
    for (int decade = 1; stride * pitch < apart; decade *= 10)
        for (const int factor : {2, 5, 10})
            if (stride * pitch < apart) stride = factor * decade;
    std::vector<int> layers;
    for (int layer = stride; (depth - layer) * pitch >= apart; layer += stride)
        if (layer * pitch >= apart) layers.push_back(layer);
    layers.push_back(depth);
    return layers;
}

}  // namespace normscope::widgets
