// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/example_image.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"

#include <QCoreApplication>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

namespace {

constexpr int kExampleHeight = 92, kExampleTitle = 18, kExampleGap = 14, kExampleMargin = 4;
constexpr double kLogSpan = 20;

struct Extremes {
    double low = std::numeric_limits<double>::infinity(), high = -low;

    void include(const PanelExample::Points& points) {
        for (const auto& [x, y] : points)
            if (std::isfinite(y)) {
                low = std::min(low, y);
                high = std::max(high, y);
            }
    }
};

QString titleOf(bool learned) {
    return learned ? QCoreApplication::translate("ExampleImage", "Pre-LN, learned")
                   : QCoreApplication::translate("ExampleImage", "Post-LN, stalled");
}

QString rangeOf(const PanelExample::Points& points) {
    Extremes own;
    own.include(points);
    return QCoreApplication::translate("ExampleImage", "%1 to %2")
        .arg(numberText(own.low, 3), numberText(own.high, 3));
}

}  // namespace

QString exampleText(const PanelExample& example) {
    return QStringLiteral("%1: %2\n%3: %4")
        .arg(titleOf(true), rangeOf(example.learned), titleOf(false), rangeOf(example.stalled));
}

QImage exampleImage(const PanelExample& example, bool over_steps, const Theme& theme, const QFont& font,
                    int width, double scale) {
    QImage image((QSizeF(width, kExampleHeight) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::transparent);
    Extremes both;
    both.include(example.learned);
    both.include(example.stalled);
    const bool log = both.low > 0 && both.high > kLogSpan * both.low;
    const auto even = [log](double y) { return log ? std::log10(y) : y; };
    const double low = even(both.low), span = std::max(even(both.high) - low, 1e-300);

    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font);
    const double column = (width - kExampleGap) / 2.0;
    for (const bool learned : {true, false}) {
        const PanelExample::Points& points = learned ? example.learned : example.stalled;
        const int run = learned ? 0 : 1;
        const double left = learned ? 0 : column + kExampleGap;
        const QRectF frame(left, kExampleTitle, column, kExampleHeight - 2 * kExampleTitle);
        painter.setPen(readable(theme.run(run), theme.background));
        painter.drawText(QRectF(left, 0, column, kExampleTitle), Qt::AlignLeft | Qt::AlignVCenter,
                         titleOf(learned));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(left, frame.bottom(), column, kExampleTitle),
                         Qt::AlignLeft | Qt::AlignVCenter, rangeOf(points));
        painter.setPen(QPen(theme.grid, 1));
        painter.drawRect(frame);
        const auto x = [&](double at) { return over_steps ? std::log2(1 + at) : at; };
        const double first = x(points.front().first),
                     length = std::max(x(points.back().first) - first, 1e-300);
        const QRectF area = frame.adjusted(kExampleMargin, kExampleMargin, -kExampleMargin, -kExampleMargin);
        QPolygonF line;
        for (const auto& [at, y] : points)
            if (std::isfinite(y))
                line << QPointF(area.left() + area.width() * (x(at) - first) / length,
                                area.bottom() - area.height() * (even(y) - low) / span);
        QPen pen(theme.run(run), 2);
        if (!learned) pen.setDashPattern({3, 1.5});
        painter.setPen(pen);
        painter.drawPolyline(line);
    }
    return image;
}

}  // namespace normscope::widgets
