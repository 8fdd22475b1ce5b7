// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QImage>
#include <QLineF>
#include <QPainter>
#include <QRectF>
#include <QVector>

namespace normscope::widgets {

/// Vertical lines one device pixel wide, collected in an image that is painted once: a painter would clip and
/// convert each of tens of thousands of lines.
class ColumnRaster {
  public:
    /// For lines inside `area`; `pixel` is the size of a device pixel in the same unit.
    ColumnRaster(const QRectF& area, double pixel);

    /// Fills the pixels whose centre a line covers, at least one, in the column of its x; what lies outside
    /// the area is cut off. Later lines cover earlier ones.
    void add(const QVector<QLineF>& lines, const QColor& colour);
    /// The painter's device pixels must be those of the constructor, and its origin on one of them, or the
    /// image is scaled.
    void paint(QPainter& painter) const;

  private:
    double pixel_;
    int left_, top_;  ///< of the image, in device pixels of the painter's coordinates
    QImage image_;
};

}  // namespace normscope::widgets
