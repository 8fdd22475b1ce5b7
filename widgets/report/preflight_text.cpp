// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/preflight_text.h"

#include "core/stack/scheme.h"
#include "widgets/figures/number_text.h"

#include <QLocale>
#include <QStringList>
#include <cmath>

namespace normscope::widgets {

QString preflightTitle(const Preflight& preflight) {
    return QStringLiteral("Pre-flight: ") + QString::fromStdString(preflight.run.name);
}

QString preflightSubject(const Preflight& preflight) {
    const StackSpec& stack = preflight.run.recipe.value("preflight").stack;
    const QStringList parts{
        QStringLiteral("seed %1").arg(preflight.run.seed),
        QStringLiteral("scheme ") + QLatin1String(scheme_row(stack.scheme).word),
        QStringLiteral("depth %1").arg(stack.depth),
        QStringLiteral("width %1").arg(stack.d_model),
        QLocale(QLocale::English).toString(qulonglong(preflight.parameters)) + QStringLiteral(" parameters"),
        QStringLiteral("step 0, not trained"),
        QStringLiteral("held out: ") + QString::fromStdString(preflight.sampled)};
    return parts.join(QStringLiteral(" · "));
}

QString valueText(const PreflightRow& row) {
    QString text = QString::fromStdString(row.word);
    if (!std::isnan(row.value)) {
        if (!text.isEmpty()) text += QStringLiteral(", ");
        text += numberText(row.value, 3);
        if (row.unit != "1") text += u' ' + QString::fromStdString(row.unit);
    }
    return text.isEmpty() ? QStringLiteral("–") : text;
}

QString boundText(const PreflightRow& row) {
    if (std::isnan(row.bound)) return {};
    const QString number = numberText(row.bound, 3);
    switch (row.theory) {
        case PreflightRow::Theory::AtMost:
            return QStringLiteral("≤ ") + number;
        case PreflightRow::Theory::Threshold:
            return QStringLiteral("threshold ") + number;
        case PreflightRow::Theory::Reference:
            return QStringLiteral("reference ") + number;
        case PreflightRow::Theory::None:
            break;
    }
    return {};
}

QString noteText(const PreflightRow& row) {
    QString note = QString::fromStdString(row.sentence);
    if (!row.validity.empty()) {
        const QString validity = QString::fromStdString(row.validity);
        note += note.isEmpty() ? validity.left(1).toUpper() + validity.mid(1) + u'.'
                               : QStringLiteral(" (%1)").arg(validity);
    }
    return note;
}

}  // namespace normscope::widgets
