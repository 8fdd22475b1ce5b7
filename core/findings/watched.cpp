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

/// Step 0 in the first phase, later the newest at half the step or before: what changed while the number of
/// steps doubled.
const ProbeResult& reference_sample(const std::vector<ProbeResult>& samples, std::int64_t step) {
    if (step <= kPhases.front().last) return samples.front();
    const auto after =
        std::find_if(samples.begin(), samples.end(), [&](const ProbeResult& s) { return s.step > step / 2; });
    return *(after - 1);  // step 0 is there
}

// The bands are those of tests/findings/RESULT.md, rounded up.
constexpr WatchedQuantity kWatched[] = {
    {"branch_ratio",
     "branch over stream",
     "residual",
     true,
     {4.6, 1.4, 1.6, 0.44},
     [](const ProbeResult& s) { return median_of(s, "branch_ratio"); }},
    {"branch_cosine",
     "cos(branch, stream)",
     "residual",
     false,
     {1.01, 1.06, 0.89, 0.17},
     [](const ProbeResult& s) { return median_of(s, "branch_cosine"); }},
    {"norm_factor",
     "the norms' factor on the gradient",
     "residual",
     true,
     {5, 5.1, 2.4, 3.1},
     [](const ProbeResult& s) { return product_of(s, "grad_norm"); }},
    {"branch_factor",
     "the branches' factor on the gradient",
     "residual",
     true,
     {3.5, 4.1, 2.7, 4.3},
     [](const ProbeResult& s) { return product_of(s, "grad_branch"); }},
    {"update_ratio",
     "update over weight",
     "updates",
     true,
     {2.9, 2.8, 2.2, 2.3},
     [](const ProbeResult& s) { return median_of(s, "update_ratio"); }},
    {"gradient_ratio",
     "gradient, first over last layer",
     "gradients",
     true,
     {4.8, 5.9, 3.2, 6.8},
     gradient_ratio},
    {"entropy",
     "attention entropy",
     "attention",
     false,
     {0.75, 0.82, 0.29, 0.21},
     [](const ProbeResult& s) { return median_of(s, "entropy"); }},
    {"similarity",
     "token similarity",
     "tokens",
     false,
     {0.93, 0.9, 0.9, 0.18},
     [](const ProbeResult& s) { return median_of(s, "similarity"); }},
};

}  // namespace

std::span<const WatchedQuantity> watched_quantities() {
    return kWatched;
}

std::string false_alarms_text() {
    return std::to_string(kFalseAlarms.alarms) + " of " + std::to_string(kFalseAlarms.runs) +
           " runs that learn leave a range too";
}

double excursion(const WatchedQuantity& quantity, double reference, double value) {
    if (!quantity.logarithmic) return std::abs(value - reference);
    if (!(reference > 0) || !(value > 0)) return std::numeric_limits<double>::quiet_NaN();
    return std::abs(std::log(value / reference));
}

namespace {

/// Every departure of a quantity; nullopt where the run has no values to judge by.
std::optional<std::vector<Departure>> departures_of(const WatchedQuantity& quantity, const RunData& run,
                                                    std::int64_t until) {
    const auto recorded = run.probes.find(quantity.probe);
    if (recorded == run.probes.end() || recorded->second.empty() || recorded->second.front().step != 0)
        return std::nullopt;
    const std::vector<ProbeResult>& samples = recorded->second;
    if (!samples.front().only().empty()) return std::nullopt;  // the bands are of whole stacks
    if (!quantity.value(samples.front())) return std::nullopt;
    std::vector<Departure> found;
    for (const ProbeResult& sample : samples) {
        if (sample.step > until) break;
        const auto phase = std::find_if(kPhases.begin(), kPhases.end(), [&](const Phase& p) {
            return p.first <= sample.step && sample.step <= p.last;
        });
        if (phase == kPhases.end()) continue;
        const ProbeResult& reference = reference_sample(samples, sample.step);
        const auto start = quantity.value(reference), value = quantity.value(sample);
        if (!start || !value) continue;
        const double bands = excursion(quantity, *start, *value) /
                             quantity.bands[static_cast<std::size_t>(phase - kPhases.begin())];
        if (bands > 1) found.push_back({&quantity, reference.step, sample.step, *start, *value, bands});
    }
    return found;
}

/// The first departure from a step on.
const Departure* first_from(const std::vector<Departure>& all, std::int64_t step) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Departure& d) { return d.step >= step; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace

std::vector<Departure> departures(const RunData& run, std::int64_t until) {
    std::vector<std::vector<Departure>> judged;
    for (const WatchedQuantity& quantity : kWatched)
        if (auto all = departures_of(quantity, run, until)) judged.push_back(std::move(*all));
    std::vector<std::int64_t> steps;
    for (const auto& all : judged)
        for (const Departure& d : all) steps.push_back(d.step);
    std::sort(steps.begin(), steps.end());
    const std::size_t wanted = std::min<std::size_t>(2, judged.size());
    const auto begins = [&](std::int64_t step) {
        const std::int64_t soon = step + std::max<std::int64_t>(2, step / 10);
        return static_cast<std::size_t>(std::count_if(judged.begin(), judged.end(), [&](const auto& all) {
                   const Departure* first = first_from(all, step);
                   return first && first->step <= soon;
               })) >= wanted;
    };
    const auto begin = std::find_if(steps.begin(), steps.end(), begins);
    std::vector<Departure> found;
    if (begin == steps.end()) return found;
    for (const auto& all : judged)
        if (const Departure* first = first_from(all, *begin)) found.push_back(*first);
    std::sort(found.begin(), found.end(), [](const Departure& a, const Departure& b) {
        return a.step != b.step ? a.step < b.step : a.bands > b.bands;
    });
    return found;
}

}  // namespace normscope
