// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/tick_labels.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

void thinLabels(std::vector<TickShape>& ticks, double gap, bool vertical) {
    std::vector<TickShape*> labelled;
    for (auto& t : ticks) {
        if (!t.label_rect.isNull()) labelled.push_back(&t);
    }
    const auto touches = [&](std::size_t stride) {
        for (std::size_t i = stride; i < labelled.size(); i += stride) {
            const QRectF &a = labelled[i - stride]->label_rect, &b = labelled[i]->label_rect;
            const double apart = vertical ? std::max(a.top() - b.bottom(), b.top() - a.bottom())
                                          : std::max(a.left() - b.right(), b.left() - a.right());
            if (apart < gap) return true;
        }
        return false;
    };
    std::size_t stride = 1;
    while (touches(stride)) ++stride;
    for (std::size_t i = 0; i < labelled.size(); ++i) {
        if (i % stride != 0) labelled[i]->label_rect = QRectF();
    }
}

std::optional<GridSteps> gridOf(const std::vector<TickShape>& ticks, const AxisMap& map) {
    const bool log = map.scale == Scale::Log;
    std::vector<double> at;
    for (const auto& t : ticks) {
        if (!t.tick.minor && !t.tick.label.isEmpty()) at.push_back(toEven(map.scale, t.tick.value));
    }
    if (at.size() >= 2) {
        const double step = at[1] - at[0];
        bool even = step > 0;
        for (std::size_t i = 1; i < at.size(); ++i)
            even = even && std::abs(at[i] - at[i - 1] - step) < 1e-6 * step;
        if (even) return GridSteps{at[0], step};
    }
    if (log && std::floor(std::log10(map.high)) >= std::ceil(std::log10(map.low))) {
        return GridSteps{std::ceil(std::log10(map.low)), 1};
    }
    return std::nullopt;
}

}  // namespace normscope::widgets
