// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/decimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace normscope::widgets {
namespace {

/// The pixel column of a finite position. floor() is a call of the C library where the processor is not known
/// to have the instruction.
double columnOf(double x, double column) {
    constexpr double kExact = 4503599627370496.0;  // 2⁵²: integers beyond
    const double at = x / column;
    if (!(std::abs(at) < kExact)) return std::floor(at);
    const auto whole = static_cast<double>(static_cast<std::int64_t>(at));
    return whole > at ? whole - 1 : whole;
}

/// Appends first, lowest, highest and last of [begin, end) in index order, each once.
void appendExtremes(QPolygonF& out, const QPointF* begin, const QPointF* end) {
    if (end - begin <= 2) {
        for (; begin != end; ++begin) out.append(*begin);
        return;
    }
    const auto by_y = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
    const auto [low, high] = std::minmax_element(begin, end, by_y);
    const QPointF* picks[] = {begin, low, high, end - 1};
    std::sort(std::begin(picks), std::end(picks));
    const auto last = std::unique(std::begin(picks), std::end(picks));
    for (auto pick = std::begin(picks); pick != last; ++pick) out.append(**pick);
}

QPolygonF thin(const QPointF* begin, const QPointF* end, double column) {
    QPolygonF out;
    constexpr qsizetype kMax = 1 << 13;  // a few points per column of any screen
    out.reserve(std::min<qsizetype>(end - begin, kMax));
    double cell = columnOf(begin->x(), column), next_cell = cell;
    while (begin != end) {
        const QPointF* next = begin + 1;
        while (next != end && (next_cell = columnOf(next->x(), column)) == cell) ++next;
        appendExtremes(out, begin, next);
        begin = next;
        cell = next_cell;
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

QVector<QLineF> pixelColumns(const QPolygonF& piece, double column, double width,
                             const QVector<qreal>& dash) {
    constexpr double kSpike = 10;  // pixels: a taller column is a spike, which no dash hides
    const double period = std::accumulate(dash.begin(), dash.end(), 0.0);
    const auto inGap = [&](double x) {
        if (dash.size() < 2 || !(period > 0)) return false;
        double at = x - columnOf(x, period) * period;
        for (qsizetype i = 0; i < dash.size(); ++i) {
            if (at < dash[i]) return i % 2 == 1;
            at -= dash[i];
        }
        return false;
    };
    QVector<QLineF> lines;
    if (piece.isEmpty()) return lines;
    const auto indexOf = [&](double x) { return static_cast<qsizetype>(columnOf(x, column)); };
    const qsizetype first = indexOf(piece.front().x()), count = indexOf(piece.back().x()) - first + 1;
    std::vector<double> low(static_cast<std::size_t>(std::max<qsizetype>(count, 1)),
                            std::numeric_limits<double>::infinity());
    std::vector<double> high(low.size(), -std::numeric_limits<double>::infinity());
    const auto extend = [&](qsizetype index, double y) {
        const auto at = static_cast<std::size_t>(std::clamp<qsizetype>(index - first, 0, count - 1));
        low[at] = std::min(low[at], y);
        high[at] = std::max(high[at], y);
    };
    extend(first, piece.front().y());
    qsizetype index = first;
    for (qsizetype i = 1; i < piece.size(); ++i) {
        const QPointF from = piece[i - 1], to = piece[i];
        const qsizetype before = index;
        index = indexOf(to.x());
        extend(index, to.y());
        // A segment is part of every column that it crosses, up to and from their common edges.
        for (qsizetype k = before + 1; k <= index; ++k) {
            const double y =
                from.y() + (to.y() - from.y()) / (to.x() - from.x()) * (double(k) * column - from.x());
            extend(k - 1, y);
            extend(k, y);
        }
    }
    lines.reserve(static_cast<qsizetype>(low.size()));
    for (std::size_t k = 0; k < low.size(); ++k) {
        const double x = (double(first) + double(k) + 0.5) * column;
        if (high[k] - low[k] < kSpike * column && inGap(x)) continue;
        const double more = std::max(0.0, width - (high[k] - low[k])) / 2;
        lines.append(QLineF(x, low[k] - more, x, high[k] + more));
    }
    return lines;
}

}  // namespace normscope::widgets
