// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/number_text.h"

#include <QLocale>
#include <cmath>

namespace normscope::widgets {

QString numberText(double value, int digits) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    const QString text = QString::number(value, 'g', digits);
    const auto e = text.indexOf(u'e');
    // printf writes 1e-07: without the zero.
    return e < 0 ? text : powerText(text.left(e + 1) + QString::number(text.mid(e + 1).toInt()));
}

QString powerText(const QString& number) {
    const auto e = number.indexOf(u'e');
    if (e < 0) return number;
    static const QString kDigits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString power;
    for (const QChar c : number.mid(e + 1)) {
        if (c == u'-') power += QStringLiteral("⁻");
        if (c.isDigit()) power += kDigits[c.digitValue()];
    }
    const QString mantissa = number.left(e);
    const QString base = mantissa == QLatin1String("1")    ? QString()
                         : mantissa == QLatin1String("-1") ? QStringLiteral("-")
                                                           : mantissa + QStringLiteral("×");
    return base + QStringLiteral("10") + power;
}

QString exactText(double value) {
    if (!std::isfinite(value)) return numberText(value);
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

}  // namespace normscope::widgets
