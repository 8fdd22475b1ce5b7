// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claim_texts.h"

#include "widgets/figures/number_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <array>
#include <cmath>

namespace normscope::widgets {

namespace {

QString claimText(const char* text) {
    return QCoreApplication::translate("Claims", text);
}

}  // namespace

std::span<const ClaimVerdict> claimVerdicts() {
    static constexpr std::array kAll = {ClaimVerdict::Holds, ClaimVerdict::Corrected,
                                        ClaimVerdict::Fails, ClaimVerdict::NotApplicable,
                                        ClaimVerdict::Toy,   ClaimVerdict::Unknown};
    return kAll;
}

QString verdictWord(ClaimVerdict verdict) {
    switch (verdict) {
        case ClaimVerdict::Holds:
            return claimText(QT_TRANSLATE_NOOP("Claims", "holds"));
        case ClaimVerdict::Corrected:
            return claimText(QT_TRANSLATE_NOOP("Claims", "corrected"));
        case ClaimVerdict::Fails:
            return claimText(QT_TRANSLATE_NOOP("Claims", "fails"));
        case ClaimVerdict::NotApplicable:
            return claimText(QT_TRANSLATE_NOOP("Claims", "not applicable"));
        case ClaimVerdict::Toy:
            return claimText(QT_TRANSLATE_NOOP("Claims", "toy"));
        case ClaimVerdict::Unknown:
            break;
    }
    return claimText(QT_TRANSLATE_NOOP("Claims", "unknown"));
}

std::span<const ClaimPaper> claimPapers() {
    static const std::array<ClaimPaper, 5> all = {
        ClaimPaper{'E', claimText(QT_TRANSLATE_NOOP("Claims", "Emadi"))},
        {'N', claimText(QT_TRANSLATE_NOOP("Claims", "Null space"))},
        {'G', claimText(QT_TRANSLATE_NOOP("Claims", "GPAS"))},
        {'B', claimText(QT_TRANSLATE_NOOP("Claims", "Baek"))},
        {'K', claimText(QT_TRANSLATE_NOOP("Claims", "Kan"))}};
    return all;
}

QString valueText(const ClaimResult& result) {
    if (std::isnan(result.value)) return {};
    const QString value = numberText(result.value);
    if (std::isnan(result.bound)) return value;
    return claimText(QT_TRANSLATE_NOOP("Claims", "%1 against %2")).arg(value, numberText(result.bound));
}

QString residualText(const ClaimResult& result) {
    QStringList parts;
    if (!std::isnan(result.residual))
        parts << claimText(QT_TRANSLATE_NOOP("Claims", "residual %1")).arg(numberText(result.residual));
    if (result.samples == 1)
        parts << claimText(QT_TRANSLATE_NOOP("Claims", "1 sample"));
    else if (result.samples > 1)
        parts << claimText(QT_TRANSLATE_NOOP("Claims", "%1 samples")).arg(result.samples);
    return parts.join(QStringLiteral(" · "));
}

}  // namespace normscope::widgets
