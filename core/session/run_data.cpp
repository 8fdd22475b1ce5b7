// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_data.h"

#include "core/base/error.h"

#include <algorithm>

namespace normscope {

namespace {

template <class T>
void reserve_row(std::vector<T>& values) {
    constexpr std::size_t least = 16;
    if (values.size() == values.capacity()) values.reserve(std::max(least, 2 * values.size()));
}

}  // namespace

void StepTable::append(const StepRecord& record) {
    if (names.empty() && step.empty()) {
        std::vector<std::string> all;
        for (const auto& [name, value] : record.values) all.push_back(name);
        columns.resize(all.size());
        names = std::move(all);
    }
    const bool same =
        record.values.size() == names.size() &&
        std::equal(names.begin(), names.end(), record.values.begin(),
                   [](const std::string& name, const auto& entry) { return name == entry.first; });
    if (!same)
        throw InputError("step " + std::to_string(record.step) + ": its columns are not those of the run");
    // All of the row or, where memory runs out, nothing of it: what may fail comes first.
    reserve_row(step);
    for (auto& column : columns) reserve_row(column);
    step.push_back(record.step);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(record.values[i].second);
}

const std::vector<double>* StepTable::find(const std::string& name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

bool RunData::external() const {
    const Recipe* known = recipe.get();
    return known && known->train.data.source == DataSource::External;
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
