// SPDX-License-Identifier: GPL-3.0-or-later
// What one recorded run gives of each quantity.
#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/gallery/findings.h"
#include "core/gallery/lead_samples.h"
#include "core/model/batch_hash.h"
#include "core/recipe/keys.h"
#include "core/sweep/statistics/lead.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace normscope {

namespace {

/// The share of the way of every entry that lies in the first fifth of the steps, mean over entries; entries
/// that never move have none.
std::optional<double> early_share(std::span<const ProbeResult> samples, const std::string& name) {
    const NamedArray* first = samples.front().find(name);
    if (!first) return std::nullopt;
    const double until = static_cast<double>(samples.front().step) +
                         static_cast<double>(samples.back().step - samples.front().step) / 5;
    std::vector<double> early(first->data.size()), whole(first->data.size());
    for (std::size_t s = 1; s < samples.size(); ++s) {
        const NamedArray *before = samples[s - 1].find(name), *now = samples[s].find(name);
        if (!before || !now || now->data.size() != whole.size() || before->data.size() != whole.size())
            return std::nullopt;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            const double way = std::abs(now->data[i] - before->data[i]);
            whole[i] += way;
            if (static_cast<double>(samples[s].step) <= until) early[i] += way;
        }
    }
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
        if (whole[i] > 0 && std::isfinite(whole[i])) {
            sum += early[i] / whole[i];
            ++count;
        }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<double> probe_value(const GalleryQuantity& quantity, const RunData& recorded) {
    using When = GalleryQuantity::When;
    const auto found = recorded.probes.find(quantity.scalar.probe);
    if (found == recorded.probes.end() || found->second.empty()) return std::nullopt;
    // In the order of their steps.
    const auto first_in =
        std::find_if(found->second.begin(), found->second.end(),
                     [&](const ProbeResult& sample) { return sample.step >= quantity.from; });
    const auto after = std::find_if(first_in, found->second.end(),
                                    [&](const ProbeResult& sample) { return sample.step > quantity.to; });
    const std::span<const ProbeResult> samples(first_in, after);
    if (samples.empty()) return std::nullopt;
    const auto at = [&](const ProbeResult& sample) {
        const NamedArray* array = sample.find(quantity.scalar.array);
        return array ? value_over(sample, *array, quantity.scalar.over) : std::nullopt;
    };
    if (quantity.when == When::First) return at(samples.front());
    if (quantity.when == When::Last) return at(samples.back());
    if (samples.size() < 2) return std::nullopt;
    const NamedArray* whole = samples.back().find(quantity.scalar.array);
    if (whole && lacks_entries(samples.back(), *whole)) return std::nullopt;
    if (quantity.when == When::EarlyShare) return early_share(samples, quantity.scalar.array);
    const auto first = at(samples.front()), last = at(samples.back());
    return first && last && *first != 0 ? std::optional(*last / *first) : std::nullopt;
}

std::optional<double> tail_mean(const GalleryQuantity& quantity, const RunData& recorded) {
    const std::vector<double>* column = recorded.steps.find(quantity.column);
    const auto steps = static_cast<std::size_t>(quantity.steps);
    if (!column || column->size() < steps) return std::nullopt;
    const double value = mean({column->end() - static_cast<std::ptrdiff_t>(steps), column->end()});
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The values of a scalar, by step.
std::map<std::int64_t, double> series_of(const SweepScalar& scalar, const RunData& recorded) {
    std::map<std::int64_t, double> series;
    const auto found = recorded.probes.find(scalar.probe);
    if (found == recorded.probes.end()) return series;
    for (const ProbeResult& sample : found->second)
        if (const NamedArray* array = sample.find(scalar.array))
            if (const auto value = value_over(sample, *array, scalar.over)) series[sample.step] = *value;
    return series;
}

std::optional<double> lead_value(const GalleryQuantity& quantity, const RunData& recorded) {
    using Value = GalleryQuantity::LeadValue;
    const auto [x, y] = lead_samples(quantity, recorded);
    double value = kNaN;
    if (quantity.lead == Value::Lag || quantity.lead == Value::Correlation ||
        quantity.lead == Value::Significant) {
        const LeadLag found = lead_lag(x, y, quantity.largest_lag);
        if (std::isnan(found.p)) return std::nullopt;
        value = quantity.lead == Value::Lag           ? static_cast<double>(found.lag)
                : quantity.lead == Value::Correlation ? found.correlation
                                                      : (found.leads() ? 1.0 : 0.0);
    } else {
        const SpikeForecast forecast = spike_forecast(x, y);
        value = quantity.lead == Value::Precision  ? forecast.precision
                : quantity.lead == Value::BaseRate ? forecast.base_rate
                                                   : forecast.lift;
    }
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> hash_of_batches(const RunData& recorded) {
    const std::vector<double>* steps = recorded.steps.find("batch_hash");
    if (!steps || steps->empty()) return std::nullopt;
    BatchHash hash;
    hash.add(*steps);
    return hash.value();
}

std::optional<double> value_of(const GalleryQuantity& quantity, const RunData& recorded,
                               const SweepRow& row) {
    using Kind = GalleryQuantity::Kind;
    switch (quantity.kind) {
        case Kind::Loss:
            return row.final_loss;
        case Kind::HeldOutLoss:
            return row.held_out_loss;
        case Kind::Events:
            return static_cast<double>(
                std::count_if(recorded.events.begin(), recorded.events.end(),
                              [&](const RunEvent& event) { return event.kind == quantity.column; }));
        case Kind::Outcome:
            return std::find(quantity.states.begin(), quantity.states.end(), row.state) ==
                           quantity.states.end()
                       ? 0.0
                       : 1.0;
        case Kind::Learned:
            if (std::isnan(recorded.bigram_entropy) || !row.final_loss) return std::nullopt;
            return *row.final_loss < recorded.bigram_entropy ? 1.0 : 0.0;
        case Kind::Tail:
            return tail_mean(quantity, recorded);
        case Kind::Lead:
            return lead_value(quantity, recorded);
        case Kind::One:
            return 1.0;
        case Kind::Key: {
            const Recipe* recipe = recorded.recipe.get();
            return recipe ? number_of(recipe_key(quantity.column).get(*recipe)) : std::nullopt;
        }
        case Kind::Batches:
            return hash_of_batches(recorded);
        case Kind::Probe:
            break;
    }
    return probe_value(quantity, recorded);
}

}  // namespace

LeadSamples lead_samples(const GalleryQuantity& lead, const RunData& recorded) {
    const auto ahead = series_of(lead.ahead, recorded), after = series_of(lead.scalar, recorded);
    LeadSamples samples;
    for (const auto& [step, value] : ahead)
        if (const auto other = after.find(step); other != after.end()) {
            samples.ahead.push_back(value);
            samples.after.push_back(other->second);
        }
    return samples;
}

GalleryValues gallery_values(const GalleryEntry& entry, const RunData& recorded, const SweepRow& row) {
    GalleryValues values;
    for (const GalleryQuantity& quantity : entry.quantities())
        values.push_back(value_of(quantity, recorded, row));
    return values;
}

}  // namespace normscope
