// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_comparison.h"

#include "widgets/figures/knobs/knob_scale.h"

#include <QCoreApplication>
#include <algorithm>

namespace normscope::widgets {
namespace {

std::vector<double> distinctNumbers(const std::vector<ComparedRun>& runs, KeyRef key) {
    std::vector<double> numbers;
    for (const ComparedRun& run : runs)
        for (const Recipe& recipe : run.recipes) numbers.push_back(number_of(key->get(recipe)).value_or(0));
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

KnobComparison compareKey(const std::vector<ComparedRun>& runs, KeyRef key, bool hold_fields) {
    KnobComparison result;
    bool apart = false, within = false;  // from run to run, among the seeds of one
    for (const ComparedRun& run : runs) {
        apart |= !key->same(run.recipes.front(), runs.front().recipes.front());
        for (const Recipe& seed : run.recipes) within |= !key->same(seed, run.recipes.front());
    }
    result.differs = apart || within;
    if (!result.differs && !(hold_fields && runs.size() == 2)) return result;
    if (result.differs && key->type.is_number()) {
        result.stops = distinctNumbers(runs, key);
        if (within || result.stops.size() > 2) return result;
    }
    for (const ComparedRun& run : runs)
        if (run.selected || runs.size() == 2)
            result.fields.push_back(
                {run.run, run.colour, run.name, key->get(run.recipes.front()), run.selected, run.fixed});
    return result;
}

QString stopsText(const KnobScale& scale, const std::vector<double>& stops) {
    const bool dense = scale.isInteger() && stops.back() - stops.front() == double(stops.size() - 1);
    if (dense)
        return QStringLiteral("%1 – %2").arg(valueText(scale, stops.front()), valueText(scale, stops.back()));
    return QCoreApplication::translate("KnobComparison", "%1 values").arg(stops.size());
}

}  // namespace normscope::widgets
