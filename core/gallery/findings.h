// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"
#include "core/gallery/interval.h"
#include "core/session/run_data.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// What the runs say of the sign of an effect.
enum class GalleryVerdict {
    AsPaper,      ///< the 95 % interval lies on the paper's side
    Opposite,     ///< it lies wholly on the other side
    Smaller,      ///< it lies wholly within the smallest effect of interest
    NotSeen,      ///< it has both sides and is wider than that
    CannotTell,   ///< an arm did not learn (GalleryMeasure::arms_learn)
    NotMeasured,  ///< too few runs have ended, or have the quantity
};
/// "as the paper", "opposite", "smaller than of interest", "not seen", "cannot tell", "not measured".
const char* gallery_verdict_text(GalleryVerdict verdict);

/// The measured effect of a GalleryMeasure.
struct GalleryFinding {
    GalleryVerdict verdict = GalleryVerdict::NotMeasured;
    /// Over the seeds; of a ratio, and of a value that is one, the geometric mean with the interval of its
    /// logarithm. Of an outcome the
    /// share of runs with Wilson's interval, its difference with Newcombe's.
    Interval effect;
    std::size_t seeds = 0, of_seeds = 0;  ///< with a value; all
    /// Ours against the paper's size: "same" within a factor of √10, "smaller", "larger"; empty where the
    /// paper has no size, or the sign is not the paper's.
    std::string order;
    std::string note;  ///< why it is not measured, or which arm did not learn; empty otherwise
};

/// The quantities of GalleryEntry::quantities() in one run; nullopt where it has no such number.
using GalleryValues = std::vector<std::optional<double>>;

/// From a recording and its row. Pure.
GalleryValues gallery_values(const GalleryEntry& entry, const RunData& recorded, const SweepRow& row);

/// One finding for every measure, from the values by index of run (SweepRun::index); runs that have not ended
/// are not there.
std::vector<GalleryFinding> gallery_findings(const GalleryEntry& entry,
                                             const std::map<std::size_t, GalleryValues>& values);

/// An entry's state in a folder.
struct GalleryResult {
    std::size_t ended = 0, total = 0;  ///< runs
    std::vector<GalleryFinding> findings;
};

/// Reads the sweep of an entry from its folder, with all its recordings. A folder that is not there has no
/// run ended. Throws InputError for a folder of another sweep or with damaged files. HDF5 calls go through
/// `files`.
GalleryResult read_gallery_result(const GalleryEntry& entry, const std::string& folder,
                                  const std::function<void(const std::function<void()>&)>& files);

/// "+0.61 nat [0.55, 0.67], 5 seeds".
std::string gallery_effect_text(const GalleryMeasure& measure, const GalleryFinding& finding);
/// "> 0, +0.6 nat": what the paper states.
std::string gallery_paper_text(const GalleryMeasure& measure);

}  // namespace normscope
