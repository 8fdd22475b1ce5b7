// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <limits>
#include <vector>

namespace normscope::widgets {

/// How the values of a knob lie along its slider. A position is in [0, 1], 0 at the left end.
struct KnobScale {
    enum class Kind { Linear, Log, Integer, LogInteger };

    Kind kind = Kind::Linear;
    double low = 0, high = 1;  ///< the slider's ends; both positive on a log scale
    bool zero = false;         ///< log scales: the left end means 0 ("off"), the rest runs from low to high
    double allowed_low = 0;    ///< range of typed values; beyond the slider's ends there is a warning
    double allowed_high = std::numeric_limits<double>::infinity();
    bool low_open = false;             ///< allowed_low itself is not allowed
    std::vector<double> detents = {};  ///< snap points, ascending
    bool detents_only = false;         ///< nothing else is allowed (divisors)
    int multiple = 1;                  ///< integers: only multiples of this (> 0) are allowed

    bool isInteger() const { return kind == Kind::Integer || kind == Kind::LogInteger; }
    bool isLog() const { return kind == Kind::Log || kind == Kind::LogInteger; }
    bool operator==(const KnobScale&) const = default;
};

/// The position of a value, clamped to the ends.
double positionOf(const KnobScale& scale, double value);

/// The value at a position: a multiple, a detent, or a real of three significant digits. Always allowed.
double valueAt(const KnobScale& scale, double position);

/// valueAt, snapped to a detent within `radius` (in positions).
double snappedValueAt(const KnobScale& scale, double position, double radius);

/// The value `count` small steps (arrow keys: 1/100 of the slider, for integers at least one multiple)
/// further; count may be negative. Clamped to the slider's ends; unchanged when already beyond.
double stepped(const KnobScale& scale, double value, int count);

/// The next detent up (direction 1) or down (−1); a tenth of the slider where there is none on that side.
double paged(const KnobScale& scale, double value, int direction);

/// Whether a typed value may be used.
bool isAllowed(const KnobScale& scale, double value);

/// "8 … 1024, multiples of 4", for a rejected value.
QString allowedText(const KnobScale& scale);

/// The text of a value: whole numbers in full, reals with four significant digits.
QString valueText(const KnobScale& scale, double value);

}  // namespace normscope::widgets
