// SPDX-License-Identifier: GPL-3.0-or-later
// What one recorded run gives of each quantity.
#include "core/gallery/findings.h"

#include <algorithm>
#include <cmath>
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

std::optional<double> value_of(const GalleryQuantity& quantity, const RunData& recorded,
                               const SweepRow& row) {
    using Kind = GalleryQuantity::Kind;
    switch (quantity.kind) {
        case Kind::Loss:
            return row.final_loss;
        case Kind::HeldOutLoss:
            return row.held_out_loss;
        case Kind::Spikes:
            return static_cast<double>(
                std::count_if(recorded.events.begin(), recorded.events.end(),
                              [](const RunEvent& event) { return event.kind == "spike"; }));
        case Kind::Outcome:
            return std::find(quantity.states.begin(), quantity.states.end(), row.state) ==
                           quantity.states.end()
                       ? 0.0
                       : 1.0;
        case Kind::Learned:
            if (std::isnan(recorded.bigram_entropy) || !row.final_loss) return std::nullopt;
            return *row.final_loss < recorded.bigram_entropy ? 1.0 : 0.0;
        case Kind::Probe:
            break;
    }
    return probe_value(quantity, recorded);
}

}  // namespace

GalleryValues gallery_values(const GalleryEntry& entry, const RunData& recorded, const SweepRow& row) {
    GalleryValues values;
    for (const GalleryQuantity& quantity : entry.quantities())
        values.push_back(value_of(quantity, recorded, row));
    return values;
}

}  // namespace normscope
