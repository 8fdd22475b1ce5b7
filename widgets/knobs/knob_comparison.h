// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"

#include <QString>
#include <vector>

namespace normscope::widgets {

struct KnobScale;

/// One of the compared runs, or a group of runs that differ in their seeds alone.
struct ComparedRun {
    int run = 0;     ///< for requests of changes
    int colour = 0;  ///< its index of hue and dash
    QString name;
    std::vector<Recipe> recipes = {};  ///< of the run, then of its other seeds
    bool selected = false;             ///< the knobs show it
    bool fixed = false;                ///< a reference, which no knob changes
};

/// The value that one run has of a key.
struct RunValue {
    int run = 0, colour = 0;
    QString name;
    FieldValue value;
    bool selected = false, fixed = false;
    bool operator==(const RunValue&) const = default;
};

/// How the compared runs differ in one key.
struct KnobComparison {
    bool differs = false;
    /// Each has a field with its line sample: both of two that differ, or the selected one of more. None:
    /// they agree, or the field shows all values.
    std::vector<RunValue> fields;
    /// Of a number that differs: every value once, ascending; stops on the slider's track.
    std::vector<double> stops;

    bool operator==(const KnobComparison&) const = default;
};

/// `hold_fields`: two runs have a field each although they agree.
KnobComparison compareKey(const std::vector<ComparedRun>& runs, KeyRef key, bool hold_fields = false);

/// "42 – 44" for whole numbers one after the other, else "6 values".
QString stopsText(const KnobScale& scale, const std::vector<double>& stops);

}  // namespace normscope::widgets
