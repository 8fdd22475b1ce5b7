// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/known_series.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace normscope {

namespace {

constexpr double kNotTaken = std::numeric_limits<double>::quiet_NaN();

void add(std::string& list, const std::string& name) {
    list += (list.empty() ? "" : ", ") + name;
}

}  // namespace

KnownSeries::KnownSeries(const RunData& history) : columns_(history.steps.names) {
    for (const auto& [probe, samples] : history.probes)
        if (!samples.empty()) arrays_[probe] = samples.front().arrays;
}

void KnownSeries::fit(StepRecord& record) const {
    if (columns_.empty()) return;  // no step yet: the first record defines them
    std::vector<std::pair<std::string, double>> values;
    for (const std::string& name : columns_) {
        const auto taken = std::find_if(record.values.begin(), record.values.end(),
                                        [&](const auto& value) { return value.first == name; });
        values.emplace_back(name, taken == record.values.end() ? kNotTaken : taken->second);
    }
    record.values = std::move(values);
}

void KnownSeries::fit(ProbeResult& result, std::vector<RunEvent>& events) {
    const auto known = arrays_.find(result.probe);
    if (known == arrays_.end()) return;
    std::string missing, extra;
    std::vector<NamedArray> fitted;
    for (const NamedArray& wanted : known->second) {
        const auto taken = std::find_if(result.arrays.begin(), result.arrays.end(), [&](const NamedArray& a) {
            return a.name == wanted.name && a.shape == wanted.shape;
        });
        if (taken != result.arrays.end()) {
            fitted.push_back(std::move(*taken));
            result.arrays.erase(taken);
        } else {
            add(missing, wanted.name);
            fitted.push_back(wanted);
            std::fill(fitted.back().data.begin(), fitted.back().data.end(), kNotTaken);
        }
    }
    for (const NamedArray& array : result.arrays) add(extra, array.name);
    result.arrays = std::move(fitted);
    if ((missing.empty() && extra.empty()) || !reported_.insert(result.probe).second) return;
    std::string text = result.probe + ":";
    if (!extra.empty()) text += " not in the recording and skipped: " + extra;
    if (!missing.empty())
        text += (extra.empty() ? " " : "; ") + std::string("not measured by this version: ") + missing;
    events.push_back({result.step, "series", text});
}

}  // namespace normscope
