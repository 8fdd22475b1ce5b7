// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/occupancy.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

Occupancy::Occupancy(const PlotLayout& layout, double cell)
    : area_(layout.area),
      cell_(cell),
      columns_(std::max(1, static_cast<int>(std::ceil(area_.width() / cell)))),
      rows_(std::max(1, static_cast<int>(std::ceil(area_.height() / cell)))),
      touched_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {
    for (const CurveShape& curve : layout.curves) {
        for (const QPointF& dot : curve.dots) mark(dot);
        for (const QPolygonF& piece : curve.pieces) {
            if (!piece.isEmpty()) mark(piece.front());
            for (qsizetype i = 1; i < piece.size(); ++i) {
                const QPointF from = piece[i - 1], along = piece[i] - from;
                const double longest = std::max(std::abs(along.x()), std::abs(along.y()));
                const int steps = std::max(1, static_cast<int>(std::ceil(2 * longest / cell_)));
                for (int k = 1; k <= steps; ++k) mark(from + along * (static_cast<double>(k) / steps));
            }
        }
    }
}

void Occupancy::mark(const QPointF& at) {
    const double x = (at.x() - area_.left()) / cell_, y = (at.y() - area_.top()) / cell_;
    if (!(x >= 0 && x <= columns_ && y >= 0 && y <= rows_)) return;  // NaN too
    const auto column = static_cast<std::size_t>(std::min(static_cast<int>(x), columns_ - 1));
    const auto row = static_cast<std::size_t>(std::min(static_cast<int>(y), rows_ - 1));
    touched_[row * static_cast<std::size_t>(columns_) + column] = 1;
}

int Occupancy::covered(const QRectF& rect) const {
    const auto cell = [this](double length) { return static_cast<int>(std::floor(length / cell_)); };
    const int left = std::clamp(cell(rect.left() - area_.left()), 0, columns_ - 1),
              right = std::clamp(cell(rect.right() - area_.left()), 0, columns_ - 1),
              top = std::clamp(cell(rect.top() - area_.top()), 0, rows_ - 1),
              bottom = std::clamp(cell(rect.bottom() - area_.top()), 0, rows_ - 1);
    int count = 0;
    for (int row = top; row <= bottom; ++row) {
        const auto first = touched_.begin() + static_cast<std::ptrdiff_t>(row) * columns_;
        count += static_cast<int>(std::count(first + left, first + right + 1, std::uint8_t{1}));
    }
    return count;
}

}  // namespace normscope::widgets
