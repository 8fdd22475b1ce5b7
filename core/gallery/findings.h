// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"
#include "core/gallery/measure_values.h"
#include "core/session/run_data.h"
#include "core/sweep/statistics/interval.h"

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
    /// Why it is not measured, which arm did not learn, or that an arm's chosen value lies at the edge of its
    /// grid; empty otherwise.
    std::string note;
};

/// One arm of an entry: a combination of the keys that are not chosen.
struct GalleryArm {
    std::string name;    ///< "stack.scheme=post"; empty where the grid has a single cell
    std::string chosen;  ///< "optimizer.lr=0.01"; empty without a choice, and before it is made
    /// Median final loss over the seeds that judge, nat, a diverged run counting as infinite; nullopt before
    /// one has ended.
    std::optional<double> loss;
    std::size_t ended = 0, learned = 0;  ///< of these seeds; below the entropy of token pairs
    bool learned_known = false;          ///< whether that entropy is known
};

/// The quantities of GalleryEntry::quantities() in one run; nullopt where it has no such number.
using GalleryValues = std::vector<std::optional<double>>;

/// From a recording and its row. Pure.
GalleryValues gallery_values(const GalleryEntry& entry, const RunData& recorded, const SweepRow& row);

/// One finding for every measure, from the values by index of run (SweepRun::index); runs that have not ended
/// are not there. `rows` are those of the runs that choose, at least; they are not needed without a choice.
std::vector<GalleryFinding> gallery_findings(const GalleryEntry& entry,
                                             const std::map<std::size_t, GalleryValues>& values,
                                             const std::vector<SweepRow>& rows = {});

/// An entry's state in a folder.
struct GalleryResult {
    std::size_t ended = 0, total = 0;  ///< runs
    std::vector<GalleryFinding> findings;
    std::vector<MeasureValues> measured;  ///< one for every measure
    std::vector<GalleryArm> arms;         ///< in the order of the grid
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
