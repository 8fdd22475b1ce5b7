// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_comparison.h"

#include "widgets/figures/knobs/knob_scale.h"
#include "widgets/figures/knobs/recipe_keys.h"

#include <QCoreApplication>
#include <algorithm>

namespace normscope::widgets {
namespace {

std::vector<double> distinctNumbers(const std::vector<ComparedRun>& runs, const QString& key) {
    std::vector<double> numbers;
    for (const ComparedRun& run : runs)
        for (const auto& values : run.values) numbers.push_back(values.value(key).toDouble());
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

KnobComparison compareKey(const std::vector<ComparedRun>& runs, const QString& key, bool hold_fields) {
    KnobComparison result;
    const KeyDomain::Kind kind = recipeDomains().value(key).kind;
    bool apart = false, within = false;  // from run to run, among the seeds of one
    for (const ComparedRun& run : runs) {
        const QVariant value = run.values.front().value(key);
        apart |= value != runs.front().values.front().value(key);
        for (const auto& seed : run.values) within |= seed.value(key) != value;
    }
    result.differs = apart || within;
    if (!result.differs && !(hold_fields && runs.size() == 2)) return result;
    if (result.differs && (kind == KeyDomain::Kind::Integer || kind == KeyDomain::Kind::Real)) {
        result.stops = distinctNumbers(runs, key);
        if (within || result.stops.size() > 2) return result;
    }
    for (const ComparedRun& run : runs)
        if (run.selected || runs.size() == 2)
            result.fields.push_back(
                {run.run, run.colour, run.name, run.values.front().value(key), run.selected, run.fixed});
    return result;
}

QString stopsText(const KnobScale& scale, const std::vector<double>& stops) {
    const bool dense = scale.isInteger() && stops.back() - stops.front() == double(stops.size() - 1);
    if (dense)
        return QStringLiteral("%1 – %2").arg(valueText(scale, stops.front()), valueText(scale, stops.back()));
    return QCoreApplication::translate("KnobComparison", "%1 values").arg(stops.size());
}

}  // namespace normscope::widgets
