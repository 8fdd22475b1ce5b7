// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/measure_values.h"

#include "core/base/nan.h"
#include "core/gallery/cells.h"
#include "core/gallery/lead_samples.h"

#include <algorithm>

namespace normscope {

namespace {

using Effect = GalleryMeasure::Effect;
using QuantityKind = GalleryQuantity::Kind;

/// What the leads of two measures have in common.
GalleryQuantity series_of_lead(GalleryQuantity quantity) {
    quantity.lead = GalleryQuantity::LeadValue::Lag;
    return quantity;
}

void add_points(MeasureValues& values, const GalleryMeasure& measure, const Cells& cells) {
    const std::vector<GalleryCell> all = cells.all();
    for (const GalleryMeasure::Points& pair : measure.points)
        for (const GalleryCell& cell : all) {
            const std::string of_cell = all.size() > 1 ? ", " + cell_text(cell) : "";
            for (const std::uint64_t seed : cells.seeds()) {
                const auto x = cells.value(cell, pair.x, seed), y = cells.value(cell, pair.y, seed);
                if (x && y) values.points.push_back({pair.times * *x, *y, seed, pair.y.title() + of_cell});
            }
        }
}

void add_pairs(MeasureValues& values, const GalleryMeasure& measure, const Cells& cells) {
    for (const std::uint64_t seed : cells.seeds()) {
        const auto of = cells.value(measure.of, measure.quantity, seed);
        const auto against = measure.effect == Effect::Value
                                 ? std::optional(kNaN)
                                 : cells.value(measure.against, measure.against_quantity, seed);
        if (of && against) values.pairs.push_back({seed, *of, *against});
    }
}

}  // namespace

std::vector<GalleryQuantity> lead_series(const GalleryEntry& entry) {
    std::vector<GalleryQuantity> all;
    for (const GalleryMeasure& measure : entry.measures) {
        if (measure.quantity.kind != QuantityKind::Lead) continue;
        const GalleryQuantity series = series_of_lead(measure.quantity);
        if (std::find(all.begin(), all.end(), series) == all.end()) all.push_back(series);
    }
    return all;
}

std::vector<LeadScan> lead_scans(const GalleryEntry& entry, const RunData& recorded) {
    std::vector<LeadScan> scans;
    for (const GalleryQuantity& series : lead_series(entry)) {
        const LeadSamples samples = lead_samples(series, recorded);
        scans.push_back(lead_scan(samples.ahead, samples.after, series.largest_lag));
    }
    return scans;
}

std::vector<MeasureValues> measure_values(const GalleryEntry& entry, const Cells& cells,
                                          const std::map<std::size_t, std::vector<LeadScan>>& scans) {
    const std::vector<GalleryQuantity> leads = lead_series(entry);
    std::vector<MeasureValues> measured;
    for (const GalleryMeasure& measure : entry.measures) {
        MeasureValues values;
        const auto lead =
            std::find(leads.begin(), leads.end(), series_of_lead(measure.quantity)) - leads.begin();
        if (measure.effect == Effect::Scatter) {
            add_points(values, measure, cells);
        } else if (measure.effect == Effect::Value && measure.quantity.kind == QuantityKind::Lead) {
            for (const std::uint64_t seed : cells.seeds())
                if (const auto run = cells.run_of(measure.of, seed))
                    if (const auto found = scans.find(*run); found != scans.end())
                        values.scans.push_back({seed, found->second.at(static_cast<std::size_t>(lead))});
        } else {
            add_pairs(values, measure, cells);
        }
        measured.push_back(std::move(values));
    }
    return measured;
}

}  // namespace normscope
