// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace normscope::widgets {

/// A number with `digits` significant digits and no padding: 0.01234, 1.234×10⁻⁷, 12, inf, NaN. Chips, hover,
/// cells.
QString numberText(double value, int digits = 4);

/// A number's text with its power written as such: "2.5e-7" → "2.5×10⁻⁷", "1e6" → "10⁶"; others as they are.
QString powerText(const QString& number);

/// The shortest text that reads back as the same double ("%.17g" where nothing shorter does). CSV.
QString exactText(double value);

/// "about 40 s", "about 12 min", "about 2.5 h".
QString aboutTime(double seconds);

}  // namespace normscope::widgets
