// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"

#include <QString>
#include <span>

namespace normscope::widgets {

/// In the order of the menus.
std::span<const ClaimVerdict> claimVerdicts();
/// "not applicable", translated.
QString verdictWord(ClaimVerdict verdict);
struct ClaimPaper {
    char letter;
    QString title;  ///< "Emadi"
};
/// In the order of claims().
std::span<const ClaimPaper> claimPapers();

/// "0.9967 against 1"; empty where the result has no number.
QString valueText(const ClaimResult& result);
/// "residual 1.2×10⁻¹⁴ · 24 samples"; empty where the result has neither.
QString residualText(const ClaimResult& result);

}  // namespace normscope::widgets
