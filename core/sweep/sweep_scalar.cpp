// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_scalar.h"

#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/base/strict_json.h"
#include "core/probe/registry.h"
#include "core/sweep/statistics/correlation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

namespace normscope {

namespace {

bool along_depth(const ArrayInfo& array) {
    if (array.axes.size() != 1) return false;
    const char* name = array.axes.front().name;
    return !std::strcmp(name, axis::hidden_state.name) || !std::strcmp(name, axis::layer.name) ||
           !std::strcmp(name, axis::sublayer.name);
}

/// In the order of SweepScalar::Over.
constexpr const char* kOver[] = {"largest", "mean", "smallest",  "first ÷ last", "median",
                                 "first",   "last", "variation", "trend",        "share above 0"};

double variation_of(const std::vector<double>& values) {
    const double centre = mean(values);
    double squares = 0;
    for (const double v : values) squares += (v - centre) * (v - centre);
    return std::sqrt(squares / static_cast<double>(values.size() - 1)) / std::abs(centre);
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string SweepScalar::over_text() const {
    return kOver[static_cast<std::size_t>(over)];
}

SweepScalar::Over SweepScalar::over_of(const std::string& text, const std::string& where) {
    std::string allowed;
    for (std::size_t i = 0; i < std::size(kOver); ++i) {
        if (text == kOver[i]) return static_cast<Over>(i);
        allowed += (i > 0 ? ", " : "") + std::string(kOver[i]);
    }
    throw InputError(where, normscope::quoted(text) + " is unknown", allowed);
}

std::string SweepScalar::title() const {
    return probe + ": " + array + ", " + (over == Over::FirstOverLast ? "first over last" : over_text());
}

std::string SweepScalar::unit() const {
    const ProbeInfo* info = find_probe(probe);
    const ArrayInfo* found = info ? find_array(*info, array) : nullptr;
    const bool pure = over == Over::FirstOverLast || over == Over::Variation || over == Over::Trend ||
                      over == Over::PositiveShare;
    if (!found || pure || !std::strcmp(found->unit, "1")) return {};
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

std::optional<double> value_over(const ProbeResult& sample, const NamedArray& array, SweepScalar::Over over) {
    using Over = SweepScalar::Over;
    if (array.data.empty()) return std::nullopt;
    const double first = array.data.front(), last = array.data.back();
    const auto defined = [](double v) { return std::isnan(v) ? std::nullopt : std::optional(v); };
    if (over == Over::First) return defined(first);
    if (over == Over::Last) return defined(last);
    if (over == Over::FirstOverLast) return last == 0 ? std::nullopt : defined(first / last);
    if (lacks_entries(sample, array)) return std::nullopt;
    std::vector<double> values;
    for (const double v : array.data)
        if (!std::isnan(v)) values.push_back(v);
    if (values.empty()) return std::nullopt;
    switch (over) {
        case Over::Largest:
            return *std::max_element(values.begin(), values.end());
        case Over::Smallest:
            return *std::min_element(values.begin(), values.end());
        case Over::Median:
            return median(values);
        case Over::Variation:
            return values.size() < 2 ? std::nullopt : finite(variation_of(values));
        case Over::Trend:
            return values.size() < 2 ? std::nullopt : finite(rank_trend(values));
        case Over::PositiveShare:
            return static_cast<double>(
                       std::count_if(values.begin(), values.end(), [](double v) { return v > 0; })) /
                   static_cast<double>(values.size());
        default:
            return mean(values);
    }
}

std::optional<double> scalar_of(const RunData& recorded, const SweepScalar& scalar) {
    const auto samples = recorded.probes.find(scalar.probe);
    if (samples == recorded.probes.end() || samples->second.empty()) return std::nullopt;
    const NamedArray* array = samples->second.back().find(scalar.array);
    return array ? value_over(samples->second.back(), *array, scalar.over) : std::nullopt;
}

}  // namespace normscope
