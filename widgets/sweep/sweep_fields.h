// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_spec.h"
#include "widgets/figures/knobs/knob_scale.h"

#include <QString>
#include <string>
#include <vector>

namespace normscope::widgets {

/// One key and its values as they were typed; an empty key is not varied.
struct SweepField {
    std::string key, values;
};

/// The sweep of some fields, or for each of them the reason why it is not valid, in one line.
struct ParsedSweep {
    SweepSpec spec;
    std::vector<QString> field_problems;  ///< of each field; empty = valid
    QString seeds_problem, problem;       ///< of the seeds; of all together
    bool valid() const;
};

/// The text of a recipe as the base of a sweep: without the keys that follow others (d_ff and d_model), where
/// they have the value that follows.
std::string baseText(const Recipe& recipe);

/// Values are checked one by one against the base; combinations when the sweep starts.
ParsedSweep parseSweep(const std::string& base, const std::vector<SweepField>& fields,
                       const std::string& seeds);

/// A range of a knob's slider as the values of a sweep: "log:0.1:1:4" on a logarithmic slider, "lin:0:1:4" on
/// others; the `count` or fewer values evenly along the slider where it has only some values (whole numbers,
/// divisors) or 0 on a logarithmic one.
std::string sweepRange(const KnobScale& scale, double low, double high, int count = 4);

/// "2026-11-23 scheme lr" in this folder, with a number where that exists.
QString freshSweepFolder(const QString& parent, const std::vector<SweepField>& fields);

}  // namespace normscope::widgets
