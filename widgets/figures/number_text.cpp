// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/number_text.h"

#include "core/base/number_text.h"

#include <QLocale>
#include <QObject>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

QString numberText(double value, int digits) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    const QString text = QString::number(value, 'g', digits);
    return powerText(text);
}

QString powerText(const QString& number) {
    return QString::fromStdString(power_text(number.toStdString()));
}

QString exactText(double value) {
    if (!std::isfinite(value)) return numberText(value);
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString aboutTime(double seconds) {
    if (seconds < 90) return QObject::tr("about %1 s").arg(std::max(1.0, std::round(seconds)), 0, 'f', 0);
    if (seconds < 90 * 60) return QObject::tr("about %1 min").arg(seconds / 60, 0, 'f', 0);
    return QObject::tr("about %1 h").arg(seconds / 3600, 0, 'f', 1);
}

}  // namespace normscope::widgets
