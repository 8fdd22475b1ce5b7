// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_data.h"

#include "core/base/error.h"

#include <algorithm>

namespace normscope {

void StepTable::append(const StepRecord& record) {
    if (names.empty() && step.empty()) {
        for (const auto& [name, value] : record.values) names.push_back(name);
        columns.resize(names.size());
    }
    const bool same =
        record.values.size() == names.size() &&
        std::equal(names.begin(), names.end(), record.values.begin(),
                   [](const std::string& name, const auto& entry) { return name == entry.first; });
    if (!same)
        throw InputError("step " + std::to_string(record.step) + ": its columns are not those of the run");
    step.push_back(record.step);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(record.values[i].second);
}

const std::vector<double>* StepTable::find(const std::string& name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

const ProbeResult* RunData::sample_at(const std::string& probe, std::int64_t at_step) const {
    const auto found = probes.find(probe);
    if (found == probes.end()) return nullptr;
    const auto& samples = found->second;
    const auto after =
        std::upper_bound(samples.begin(), samples.end(), at_step,
                         [](std::int64_t wanted, const ProbeResult& sample) { return wanted < sample.step; });
    return after == samples.begin() ? nullptr : &*std::prev(after);
}

const ProbeResult* RunData::sample_of(const std::string& probe, std::int64_t step) const {
    const ProbeResult* sample = sample_at(probe, step);
    return sample && sample->step == step ? sample : nullptr;
}

bool insert_sample(RunData& run, ProbeResult sample) {
    auto& samples = run.probes[sample.probe];
    const auto at =
        std::lower_bound(samples.begin(), samples.end(), sample.step,
                         [](const ProbeResult& s, std::int64_t wanted) { return s.step < wanted; });
    if (at != samples.end() && at->step == sample.step) return false;
    samples.insert(at, std::move(sample));
    return true;
}

}  // namespace normscope
