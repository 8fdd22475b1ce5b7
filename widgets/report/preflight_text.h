// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/preflight/preflight.h"

#include <QString>

namespace normscope::widgets {

/// "Pre-flight: Pre-LN".
QString preflightTitle(const Preflight& preflight);
/// Seed, scheme, sizes and what was measured, in one line.
QString preflightSubject(const Preflight& preflight);

/// The texts of a row: "1.23 of 24", "≤ 4.5", and the sentence with the range of validity after it.
QString valueText(const PreflightRow& row);
QString boundText(const PreflightRow& row);
QString noteText(const PreflightRow& row);

}  // namespace normscope::widgets
