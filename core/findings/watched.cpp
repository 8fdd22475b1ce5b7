// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/watched.h"

#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

/// The median of the finite entries; of an even count the mean of the middle two.
std::optional<double> median_of(const ProbeResult& sample, const char* name) {
    const NamedArray* array = sample.find(name);
    if (!array) return std::nullopt;
    const std::vector<double> values = finite_values(array->data);
    return values.empty() ? std::nullopt : std::optional(median(values));
}

std::optional<double> gradient_ratio(const ProbeResult& sample) {
    const NamedArray* hidden = sample.find("hidden");
    if (!hidden || hidden->data.size() < 5) return std::nullopt;  // one layer has no first and last
    return hidden->data[2] / hidden->data.back();
}

/// The product of one factor over the sub-layers between the hidden states of the first and the last layer.
std::optional<double> product_of(const ProbeResult& sample, const char* name) {
    const NamedArray* array = sample.find(name);
    if (!array || array->data.size() < 4) return std::nullopt;
    double logarithm = 0;  // the product itself may underflow
    for (std::size_t k = 2; k < array->data.size(); ++k) logarithm += std::log(array->data[k]);
    return std::exp(logarithm);
}

// The bands are the last row of tests/findings/RESULT.md, rounded up.
constexpr WatchedQuantity kWatched[] = {
    {"branch_ratio", "branch ÷ stream", "residual", true, 3.8,
     [](const ProbeResult& s) { return median_of(s, "branch_ratio"); }},
    {"branch_cosine", "cos(branch, stream)", "residual", false, 0.95,
     [](const ProbeResult& s) { return median_of(s, "branch_cosine"); }},
    {"norm_factor", "the norms' factor on the gradient", "residual", true, 2.5,
     [](const ProbeResult& s) { return product_of(s, "grad_norm"); }},
    {"branch_factor", "the branches' factor on the gradient", "residual", true, 3.5,
     [](const ProbeResult& s) { return product_of(s, "grad_branch"); }},
    {"update_ratio", "update ÷ weight", "updates", true, 3,
     [](const ProbeResult& s) { return median_of(s, "update_ratio"); }},
    {"gradient_ratio", "gradient, first ÷ last layer", "gradients", true, 4, gradient_ratio},
    {"entropy", "attention entropy", "attention", false, 0.21,
     [](const ProbeResult& s) { return median_of(s, "entropy"); }},
    {"similarity", "token similarity", "tokens", false, 0.95,
     [](const ProbeResult& s) { return median_of(s, "similarity"); }},
};

}  // namespace

std::span<const WatchedQuantity> watched_quantities() {
    return kWatched;
}

double excursion(const WatchedQuantity& quantity, double start, double value) {
    if (!quantity.logarithmic) return std::abs(value - start);
    if (!(start > 0) || !(value > 0)) return std::numeric_limits<double>::quiet_NaN();
    return std::abs(std::log(value / start));
}

std::vector<Departure> departures(const RunData& run, std::int64_t until) {
    std::vector<Departure> found;
    for (const WatchedQuantity& quantity : kWatched) {
        const auto samples = run.probes.find(quantity.probe);
        if (samples == run.probes.end() || samples->second.empty() || samples->second.front().step != 0)
            continue;
        if (!samples->second.front().only().empty()) continue;  // the bands are of whole stacks
        const auto start = quantity.value(samples->second.front());
        if (!start) continue;
        for (const ProbeResult& sample : samples->second) {
            if (sample.step > until) break;
            const auto value = quantity.value(sample);
            if (!value) continue;
            const double bands = excursion(quantity, *start, *value) / quantity.band;
            if (!(bands > 1)) continue;
            found.push_back({&quantity, sample.step, *start, *value, bands});
            break;
        }
    }
    std::sort(found.begin(), found.end(), [](const Departure& a, const Departure& b) {
        return a.step != b.step ? a.step < b.step : a.bands > b.bands;
    });
    return found;
}

}  // namespace normscope
