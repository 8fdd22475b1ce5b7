// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/number_text.h"

#include "core/base/number_text.h"

#include <QLocale>
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

}  // namespace normscope::widgets
