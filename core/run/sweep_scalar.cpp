// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sweep_scalar.h"

#include "core/probe/registry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace normscope {

namespace {

bool along_depth(const ArrayInfo& array) {
    if (array.axes.size() != 1) return false;
    const char* name = array.axes.front().name;
    return !std::strcmp(name, axis::hidden_state.name) || !std::strcmp(name, axis::layer.name) ||
           !std::strcmp(name, axis::sublayer.name);
}

}  // namespace

std::string SweepScalar::over_text() const {
    switch (over) {
        case Over::Largest:
            return "largest";
        case Over::Mean:
            return "mean";
        case Over::Smallest:
            return "smallest";
        case Over::FirstOverLast:
            break;
    }
    return "first ÷ last";
}

std::string SweepScalar::title() const {
    return probe + ": " + array + ", " + over_text();
}

std::string SweepScalar::unit() const {
    const ProbeInfo* info = find_probe(probe);
    const ArrayInfo* found = info ? find_array(*info, array) : nullptr;
    if (!found || over == Over::FirstOverLast || !std::strcmp(found->unit, "1")) return {};
    return found->unit;
}

std::vector<SweepScalar> sweep_scalars(const Recipe& recipe) {
    using Over = SweepScalar::Over;
    std::vector<SweepScalar> scalars;
    const auto add = [&](const ProbeInfo& probe) {
        for (const ArrayInfo& array : probe.arrays) {
            if (array.axes.empty()) {  // one number
                scalars.push_back({probe.id, array.name, Over::Mean});
                continue;
            }
            for (const Over over : {Over::Largest, Over::Mean, Over::Smallest})
                scalars.push_back({probe.id, array.name, over});
            if (along_depth(array)) scalars.push_back({probe.id, array.name, Over::FirstOverLast});
        }
    };
    if (recipe.probes.empty()) {
        for (const ProbeInfo& probe : probe_registry())
            if (probe.by_default) add(probe);
    } else {
        for (const auto& asked : recipe.probes)
            if (const ProbeInfo* probe = find_probe(asked.id)) add(*probe);
    }
    return scalars;
}

std::optional<double> scalar_of(const RunData& recorded, const SweepScalar& scalar) {
    const auto samples = recorded.probes.find(scalar.probe);
    if (samples == recorded.probes.end() || samples->second.empty()) return std::nullopt;
    const NamedArray* array = samples->second.back().find(scalar.array);
    if (!array || array->data.empty()) return std::nullopt;
    if (scalar.over == SweepScalar::Over::FirstOverLast) {
        const double ratio = array->data.front() / array->data.back();
        return std::isnan(ratio) || array->data.back() == 0 ? std::nullopt : std::optional(ratio);
    }
    std::vector<double> values;
    for (const double v : array->data)
        if (!std::isnan(v)) values.push_back(v);
    if (values.empty()) return std::nullopt;
    if (scalar.over == SweepScalar::Over::Largest) return *std::max_element(values.begin(), values.end());
    if (scalar.over == SweepScalar::Over::Smallest) return *std::min_element(values.begin(), values.end());
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
}

}  // namespace normscope
