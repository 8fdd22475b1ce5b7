// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace normscope::widgets {
namespace {

/// A polynomial with these coefficients, constant first, in Horner's scheme; result clamped to a channel.
int channel(const std::array<double, 6>& c, double t) {
    double sum = 0;
    for (std::size_t i = c.size(); i-- > 0;) sum = sum * t + c[i];
    return static_cast<int>(std::lround(std::clamp(sum, 0.0, 255.0)));
}

}  // namespace

QColor cividis(double t) {
    t = std::clamp(t, 0.0, 1.0);
    return QColor(channel({-4.54, -35.34, 2381.73, -6402.7, 7024.72, -2710.57}, t),
                  channel({32.49, 170.73, 52.82, -131.46, 176.58, -67.37}, t),
                  channel({81.24, 442.36, -2482.43, 6167.24, -6614.94, 2475.67}, t));
}

QColor sequentialColour(double position, bool dark) {
    position = std::clamp(position, 0.0, 1.0);
    return cividis(dark ? 0.9 - 0.65 * position : 0.1 + 0.8 * position);
}

QColor divergingColour(double t, bool dark) {
    t = std::clamp(t, -1.0, 1.0);
    const QColor middle = dark ? QColor(0x55, 0x58, 0x5c) : QColor(0xe2, 0xe2, 0xe2);
    const QColor blue = dark ? QColor(0x5a, 0xa9, 0xf5) : QColor(0x1f, 0x5f, 0xa8);
    const QColor orange = dark ? QColor(0xff, 0xa2, 0x4d) : QColor(0xc8, 0x5a, 0x00);
    return blend(middle, t < 0 ? blue : orange, std::abs(t));
}

double luminance(const QColor& colour) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QColor textOn(const QColor& background) {
    return contrast(background, Qt::white) >= contrast(background, Qt::black) ? Qt::white : Qt::black;
}

QColor readable(const QColor& colour, const QColor& background) {
    QColor text = colour;
    for (int step = 1; step <= 20 && contrast(text, background) < 4.5; ++step) {
        text = blend(colour, textOn(background), step / 20.0);
    }
    return text;
}

QColor blend(const QColor& a, const QColor& b, double t) {
    const auto mix = [t](int x, int y) { return static_cast<int>(std::lround(x + t * (y - x))); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace normscope::widgets
