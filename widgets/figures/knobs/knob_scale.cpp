// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/knob_scale.h"

#include "core/base/assert.h"
#include "widgets/figures/number_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr double kZeroLane = 0.08;  // share of a log slider reserved for zero
constexpr int kSmallSteps = 100;

double logPosition(double low, double high, double value) {
    return std::log(value / low) / std::log(high / low);
}

double rounded(const KnobScale& s, double value) {
    if (s.isInteger()) {
        const double lowest = std::ceil(std::max(s.low, s.allowed_low) / s.multiple) * s.multiple;
        return std::max(lowest, std::round(value / s.multiple) * s.multiple);
    }
    // Three significant digits; on a linear scale, thousandths of the slider.
    const double size = s.kind == KnobScale::Kind::Log ? std::abs(value) : s.high - s.low;
    if (value == 0 || size == 0) return 0;
    const double digits = std::floor(std::log10(size)) - 2;
    // Dividing by a power of ten rather than multiplying by its inverse gives the double that "0.003" reads
    // as.
    return digits < 0 ? std::round(value * std::pow(10, -digits)) / std::pow(10, -digits)
                      : std::round(value / std::pow(10, digits)) * std::pow(10, digits);
}

double nearestDetent(const KnobScale& s, double position) {
    return *std::min_element(s.detents.begin(), s.detents.end(), [&](double a, double b) {
        return std::abs(positionOf(s, a) - position) < std::abs(positionOf(s, b) - position);
    });
}

}  // namespace

double positionOf(const KnobScale& s, double value) {
    if (!s.isLog()) return std::clamp((value - s.low) / (s.high - s.low), 0.0, 1.0);
    if (value <= 0) return 0;
    const double start = s.zero ? kZeroLane : 0;
    return std::clamp(start + (1 - start) * logPosition(s.low, s.high, value), start, 1.0);
}

double valueAt(const KnobScale& s, double position) {
    NORMSCOPE_ASSERT(s.low <= s.high && s.multiple > 0 && (!s.isLog() || s.low > 0), "a scale has two ends");
    NORMSCOPE_ASSERT(std::is_sorted(s.detents.begin(), s.detents.end()), "detents are ascending");
    position = std::clamp(position, 0.0, 1.0);
    if (s.detents_only && !s.detents.empty()) return nearestDetent(s, position);
    if (!s.isLog()) return rounded(s, s.low + position * (s.high - s.low));
    const double start = s.zero ? kZeroLane : 0;
    if (s.zero && position < kZeroLane / 2) return 0;
    const double t = std::max(0.0, (position - start) / (1 - start));
    return rounded(s, s.low * std::pow(s.high / s.low, t));
}

double snappedValueAt(const KnobScale& s, double position, double radius) {
    if (!s.detents.empty()) {
        const double detent = nearestDetent(s, position);
        if (s.detents_only || std::abs(positionOf(s, detent) - position) <= radius) return detent;
    }
    return valueAt(s, position);
}

double stepped(const KnobScale& s, double value, int count) {
    if (s.detents_only) {
        for (; count > 0; --count) value = paged(s, value, 1);
        for (; count < 0; ++count) value = paged(s, value, -1);
        return value;
    }
    const double here = positionOf(s, value);
    if ((count > 0 && here >= 1) || (count < 0 && here <= 0)) return value;
    double next = valueAt(s, here + static_cast<double>(count) / kSmallSteps);
    // Integers of a log scale, and a zero lane, are wider than a small step at the left end.
    if (s.isInteger() && (count > 0 ? next <= value : next >= value)) next = value + count * s.multiple;
    if (s.zero && value == 0 && count > 0) next = s.low;
    if (s.zero && value > 0 && value <= s.low * (1 + 1e-9) && count < 0) next = 0;
    if (s.isInteger()) return std::clamp(next, valueAt(s, 0), valueAt(s, 1));
    return next;
}

double paged(const KnobScale& s, double value, int direction) {
    const double slack = 1e-9 * std::max(1e-12, std::abs(value));
    if (direction > 0) {
        for (double detent : s.detents)
            if (detent > value + slack) return detent;
    } else {
        for (std::size_t i = s.detents.size(); i-- > 0;)
            if (s.detents[i] < value - slack) return s.detents[i];
    }
    return s.detents_only ? value : stepped(s, value, direction * kSmallSteps / 10);
}

bool isAllowed(const KnobScale& s, double value) {
    if (!std::isfinite(value) || value > s.allowed_high) return false;
    if (s.low_open ? value <= s.allowed_low : value < s.allowed_low) return false;
    if (s.detents_only) return std::find(s.detents.begin(), s.detents.end(), value) != s.detents.end();
    return !s.isInteger() || std::fmod(value, s.multiple) == 0;
}

QString allowedText(const KnobScale& s) {
    if (s.detents_only) {
        QStringList values;
        for (double detent : s.detents) values << valueText(s, detent);
        return values.join(QStringLiteral(", "));
    }
    const QString low = valueText(s, s.allowed_low);
    QString text = std::isinf(s.allowed_high)
                       ? (s.low_open ? QStringLiteral("> ") : QStringLiteral("≥ ")) + low
                       : QStringLiteral("%1 … %2").arg(low, valueText(s, s.allowed_high));
    if (s.isInteger() && s.multiple > 1)
        text += QCoreApplication::translate("KnobScale", ", multiples of %1").arg(s.multiple);
    return text;
}

QString valueText(const KnobScale& s, double value) {
    return s.isInteger() ? QString::number(value, 'f', 0) : numberText(value);
}

}  // namespace normscope::widgets
