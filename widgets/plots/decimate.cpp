// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/decimate.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

bool isFinite(const QPointF& p) {
    return std::isfinite(p.x()) && std::isfinite(p.y());
}

/// Appends first, lowest, highest and last of [begin, end) in index order, each once.
void appendExtremes(QPolygonF& out, const QPointF* begin, const QPointF* end) {
    const auto by_y = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
    const auto [low, high] = std::minmax_element(begin, end, by_y);
    const QPointF* picks[] = {begin, low, high, end - 1};
    std::sort(std::begin(picks), std::end(picks));
    const auto last = std::unique(std::begin(picks), std::end(picks));
    for (auto pick = std::begin(picks); pick != last; ++pick) out.append(**pick);
}

QPolygonF thin(const QPointF* begin, const QPointF* end, double column) {
    QPolygonF out;
    while (begin != end) {
        const double cell = std::floor(begin->x() / column);
        const auto next = std::find_if(begin + 1, end,
                                       [&](const QPointF& p) { return std::floor(p.x() / column) != cell; });
        appendExtremes(out, begin, next);
        begin = next;
    }
    return out;
}

}  // namespace

std::vector<QPolygonF> decimate(const QPolygonF& points, double column) {
    std::vector<QPolygonF> pieces;
    const QPointF* const stop = points.constData() + points.size();
    for (const QPointF* begin = points.constData(); begin != stop;) {
        begin = std::find_if(begin, stop, isFinite);
        const QPointF* const end = std::find_if_not(begin, stop, isFinite);
        if (begin != end) pieces.push_back(thin(begin, end, column));
        begin = end;
    }
    return pieces;
}

}  // namespace normscope::widgets
