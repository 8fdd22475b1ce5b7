// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"
#include "core/gallery/findings.h"

#include <QColor>
#include <QFont>
#include <QRectF>
#include <QString>
#include <optional>
#include <vector>

class QPainter;

namespace normscope::widgets {

/// The shapes of verdicts, of claims and of the gallery's measures: a meaning has one shape in both.
enum class VerdictMark { Check, Cross, Bar, Waves, Die, Question, Interval, Ring };

/// ✓ holds, ≈ corrected, ✕ fails, ▬ not applicable, a die for toy scale, ? unknown; without a verdict a ring.
VerdictMark markOf(const std::optional<ClaimVerdict>& verdict);
/// ✓ as the paper, ✕ opposite, an interval across a limit for not seen, a ring for not measured.
VerdictMark markOf(GalleryVerdict verdict);

/// Inside the largest centred square of `rect`.
void paintMark(QPainter& painter, const QRectF& rect, VerdictMark mark, const QColor& colour);

/// "3 holds" with the shape of its verdict.
struct MarkedText {
    VerdictMark mark;
    QString text;
    QColor colour;
};
/// The texts in a row from the left of `line`, each after its shape.
void paintMarked(QPainter& painter, const QRect& line, const QFont& font,
                 const std::vector<MarkedText>& texts);

}  // namespace normscope::widgets
