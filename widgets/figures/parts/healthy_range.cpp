// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/healthy_range.h"

#include "core/findings/healthy_band.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr double kReferenceStrength = 0.55;

Band referenceBand(const HealthyBand& healthy) {
    Band band;
    band.name = QString("10 to 90 % of %1 healthy runs").arg(healthy.runs());
    band.role = {Role::Kind::Sequential, -1, 0};  // of no run
    band.strength = kReferenceStrength;
    band.is_reference = true;
    return band;
}

/// Below the bands of the runs, with its name.
void addBelow(Plot& plot, Band band) {
    const bool any = std::any_of(band.low.begin(), band.low.end(), [](double v) { return std::isfinite(v); });
    if (!any) return;
    plot.chips.push_back({Chip::Edge::BottomLeft, "grey: " + band.name, {}});
    plot.bands.insert(plot.bands.begin(), std::move(band));
}

}  // namespace

void addHealthyRange(Plot& plot, const PanelInput& input, const std::string& probe, const std::string& array,
                     const ProfileOf& profile) {
    if (!input.healthy) return;
    for (const ShownSample& shown : shownSamples(input, probe)) {
        const NamedArray* const own = shown.own() ? shown.sample->find(array) : nullptr;
        if (!own) continue;
        const auto range = input.healthy->range(shown.sample->step, "probes/" + probe + "/" + array);
        if (!range || range->low.size() != own->data.size()) continue;
        const auto along = [&](const std::vector<double>& values) {
            ProbeResult limit = *shown.sample;
            for (NamedArray& other : limit.arrays)
                if (other.name == array) other.data = values;
            return profile(limit);
        };
        const auto low = along(range->low), high = along(range->high);
        if (!low || !high) continue;
        Band band = referenceBand(*input.healthy);
        band.x = low->x;
        band.low = low->y;
        band.high = high->y;
        band.step = shown.sample->step;
        return addBelow(plot, std::move(band));
    }
}

void addHealthySteps(Plot& plot, const PanelInput& input, const std::string& column) {
    if (!input.healthy) return;
    Band band = referenceBand(*input.healthy);
    for (const std::int64_t step : input.healthy->common_steps()) {
        const auto range = input.healthy->range(step, "steps/" + column);
        if (!range || range->low.size() != 1) continue;
        band.x.push_back(double(step));
        band.low.push_back(range->low.front());
        band.high.push_back(range->high.front());
    }
    addBelow(plot, std::move(band));
}

}  // namespace normscope::widgets
