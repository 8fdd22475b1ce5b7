// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/column_raster.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

/// Of a position inside or near a widget, where the conversion cannot overflow.
int pixelAt(double position, double pixel) {
    return static_cast<int>(std::floor(position / pixel));
}

}  // namespace

ColumnRaster::ColumnRaster(const QRectF& area, double pixel)
    : pixel_(pixel),
      left_(pixelAt(area.left(), pixel)),
      top_(pixelAt(area.top(), pixel)),
      image_(pixelAt(area.right(), pixel) - left_ + 1, pixelAt(area.bottom(), pixel) - top_ + 1,
             QImage::Format_ARGB32_Premultiplied) {
    image_.fill(Qt::transparent);
}

void ColumnRaster::add(const QVector<QLineF>& lines, const QColor& colour) {
    const QRgb value = qPremultiply(colour.rgba());
    auto* const pixels = reinterpret_cast<QRgb*>(image_.bits());
    const auto stride = static_cast<std::ptrdiff_t>(image_.bytesPerLine() / sizeof(QRgb));
    const double per_pixel = 1 / pixel_, height = image_.height();
    for (const QLineF& line : lines) {
        const int column = pixelAt(line.x1(), pixel_) - left_;
        if (column < 0 || column >= image_.width()) continue;
        // The first centre at or after an end is half a pixel before the next whole position.
        const double from = std::ceil(line.y1() * per_pixel - top_ - 0.5);
        const double to = std::max(from + 1, std::ceil(line.y2() * per_pixel - top_ - 0.5));
        const int first = static_cast<int>(std::clamp(from, 0.0, height));
        const int end = static_cast<int>(std::clamp(to, 0.0, height));
        QRgb* at = pixels + first * stride + column;
        for (int row = first; row < end; ++row, at += stride) *at = value;
    }
}

void ColumnRaster::paint(QPainter& painter) const {
    painter.drawImage(
        QRectF(left_ * pixel_, top_ * pixel_, image_.width() * pixel_, image_.height() * pixel_), image_);
}

}  // namespace normscope::widgets
