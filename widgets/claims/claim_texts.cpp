// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claim_texts.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/glyph.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>

namespace normscope::app {

namespace {

QString translated(const char* text) {
    return QCoreApplication::translate("Claims", text);
}

// Coordinates of a 16 × 16 square.
QPainterPath waves() {
    QPainterPath path;
    for (const double y : {5.5, 10.5}) {
        path.moveTo(2.5, y + 1);
        path.cubicTo(5, y - 3, 6.5, y - 1.5, 8, y);
        path.cubicTo(9.5, y + 1.5, 11, y + 3, 13.5, y - 1);
    }
    return path;
}

QPainterPath question() {
    QPainterPath path;
    path.moveTo(5, 5.5);
    path.cubicTo(5, 1, 11.5, 1.5, 11, 5.5);
    path.cubicTo(10.7, 7.5, 8, 7.3, 8, 9.8);
    return path;
}

QPainterPath dot(double y, double radius) {
    QPainterPath path;
    path.addEllipse(QPointF(8, y), radius, radius);
    return path;
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
            return translated(QT_TRANSLATE_NOOP("Claims", "holds"));
        case ClaimVerdict::Corrected:
            return translated(QT_TRANSLATE_NOOP("Claims", "corrected"));
        case ClaimVerdict::Fails:
            return translated(QT_TRANSLATE_NOOP("Claims", "fails"));
        case ClaimVerdict::NotApplicable:
            return translated(QT_TRANSLATE_NOOP("Claims", "not applicable"));
        case ClaimVerdict::Toy:
            return translated(QT_TRANSLATE_NOOP("Claims", "toy"));
        case ClaimVerdict::Unknown:
            break;
    }
    return translated(QT_TRANSLATE_NOOP("Claims", "unknown"));
}

void paintVerdict(QPainter& painter, const QRectF& rect, const std::optional<ClaimVerdict>& verdict,
                  const QColor& colour) {
    if (!verdict) return widgets::paintPaths(painter, rect, dot(8, 3), {}, colour);
    QPainterPath outline;
    switch (*verdict) {
        case ClaimVerdict::Holds:
            return widgets::paintGlyph(painter, rect, widgets::Glyph::Check, colour);
        case ClaimVerdict::Corrected:
            return widgets::paintPaths(painter, rect, waves(), {}, colour);
        case ClaimVerdict::Fails:
            return widgets::paintGlyph(painter, rect, widgets::Glyph::Cross, colour);
        case ClaimVerdict::NotApplicable:
            return widgets::paintGlyph(painter, rect, widgets::Glyph::Bar, colour);
        case ClaimVerdict::Toy:
            outline.addRoundedRect(QRectF(3, 3, 10, 10), 2, 2);
            return widgets::paintPaths(painter, rect, outline, dot(8, 2), colour);
        case ClaimVerdict::Unknown:
            return widgets::paintPaths(painter, rect, question(), dot(13, 1.3), colour);
    }
}

std::span<const ClaimPaper> claimPapers() {
    static const std::array<ClaimPaper, 5> all = {
        ClaimPaper{'E', translated(QT_TRANSLATE_NOOP("Claims", "Emadi"))},
        {'N', translated(QT_TRANSLATE_NOOP("Claims", "Null space"))},
        {'G', translated(QT_TRANSLATE_NOOP("Claims", "GPAS"))},
        {'B', translated(QT_TRANSLATE_NOOP("Claims", "Baek"))},
        {'K', translated(QT_TRANSLATE_NOOP("Claims", "Kan"))}};
    return all;
}

QString valueText(const ClaimResult& result) {
    if (std::isnan(result.value)) return {};
    const QString value = widgets::numberText(result.value);
    if (std::isnan(result.bound)) return value;
    return translated(QT_TRANSLATE_NOOP("Claims", "%1 against %2"))
        .arg(value, widgets::numberText(result.bound));
}

QString residualText(const ClaimResult& result) {
    QStringList parts;
    if (!std::isnan(result.residual))
        parts << translated(QT_TRANSLATE_NOOP("Claims", "residual %1"))
                     .arg(widgets::numberText(result.residual));
    if (result.samples == 1)
        parts << translated(QT_TRANSLATE_NOOP("Claims", "1 sample"));
    else if (result.samples > 1)
        parts << translated(QT_TRANSLATE_NOOP("Claims", "%1 samples")).arg(result.samples);
    return parts.join(QStringLiteral(" · "));
}

}  // namespace normscope::app
