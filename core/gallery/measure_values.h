// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"
#include "core/session/run_data.h"
#include "core/sweep/statistics/lead.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normscope {

class Cells;

/// The values that the finding of one measure rests on, as its figure draws them; those of the effect alone
/// are not empty.
struct MeasureValues {
    /// Scatter: of a run, with the name of its cell and of y.
    struct Point {
        double x, y;
        std::uint64_t seed;
        std::string series;
    };
    std::vector<Point> points;

    /// Value, Difference, Ratio: of a seed; `against` is NaN of a value.
    struct Pair {
        std::uint64_t seed;
        double of, against;
    };
    std::vector<Pair> pairs;

    /// Value of a lead: the scan of a seed in place of pairs.
    struct Scan {
        std::uint64_t seed;
        LeadScan scan;
    };
    std::vector<Scan> scans;
};

/// The series of an entry's leads, each once, as quantities.
std::vector<GalleryQuantity> lead_series(const GalleryEntry& entry);
/// Of a recording, the scan of each of them.
std::vector<LeadScan> lead_scans(const GalleryEntry& entry, const RunData& recorded);

/// One for every measure. `scans` are those of the runs that have ended, by SweepRun::index.
std::vector<MeasureValues> measure_values(const GalleryEntry& entry, const Cells& cells,
                                          const std::map<std::size_t, std::vector<LeadScan>>& scans);

}  // namespace normscope
