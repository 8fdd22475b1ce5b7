// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/field_paint.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"

#include <QPainter>
#include <QWidget>
#include <numeric>

namespace normscope::widgets {

void paintField(QPainter& painter, const QWidget& field, bool outlined) {
    constexpr double kRadius = 5;
    const Theme theme = themeOf(field.palette());
    const bool focused = field.hasFocus();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(focused    ? QPen(theme.text, 1.5)
                   : outlined ? QPen(blend(theme.axis, theme.background, 0.4), 1)
                              : QPen(Qt::NoPen));
    painter.setBrush(outlined ? theme.background : field.palette().color(QPalette::Button));
    const double inset = focused ? 0.75 : outlined ? 0.5 : 0;
    painter.drawRoundedRect(QRectF(field.rect()).adjusted(inset, inset, -inset, -inset), kRadius, kRadius);
}

void paintLineSample(QPainter& painter, const QRectF& rect, const QWidget& field, int run) {
    constexpr double kWidth = 2.5;
    QPen line(themeOf(field.palette()).run(run), kWidth);
    line.setCapStyle(Qt::FlatCap);
    if (auto dash = runDash(run); !dash.isEmpty()) {
        // One period and the dash after it fit: one dash alone would be a solid line.
        const double least = kWidth * (std::accumulate(dash.begin(), dash.end(), 0.0) + dash.front());
        if (least > kSampleWidth)
            for (qreal& part : dash) part *= kSampleWidth / least;
        line.setDashPattern(dash);
    }
    painter.setPen(line);
    const double y = rect.center().y();
    painter.drawLine(QPointF(rect.left(), y), QPointF(rect.left() + kSampleWidth, y));
}

}  // namespace normscope::widgets
