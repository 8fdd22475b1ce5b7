// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/theme.h"

#include <QIcon>
#include <QPainter>
#include <QPixmap>

namespace normscope::widgets {

/// A run's line as in the plots, with the dash of a curve of 2 px, in the middle of `rect` and as long.
inline void paintRunSample(QPainter& painter, const QRectF& rect, const Theme& theme, int run, double thick) {
    QPen pen(theme.run(run), thick);
    pen.setCapStyle(Qt::FlatCap);
    if (QVector<qreal> dash = runDash(run); !dash.isEmpty()) {
        for (qreal& length : dash) length *= 2 / thick;
        pen.setDashPattern(dash);
    }
    painter.setPen(pen);
    painter.drawLine(QPointF(rect.left(), rect.center().y()), QPointF(rect.right(), rect.center().y()));
}

/// The same as an icon of lists and tables.
inline QIcon runIcon(int run, const Theme& theme) {
    constexpr QSize kSize(22, 14);
    QPixmap image(2 * kSize);
    image.setDevicePixelRatio(2);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    paintRunSample(painter, QRectF(QPointF(0, 0), kSize), theme, run, 3);
    return QIcon(image);
}

}  // namespace normscope::widgets
