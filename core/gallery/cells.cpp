// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/cells.h"

#include "core/base/statistics.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

/// The seeds that judge.
std::vector<std::uint64_t> scoring_seeds(const SweepSpec& sweep) {
    return {sweep.seeds.begin() + static_cast<std::ptrdiff_t>(sweep.choice.seeds), sweep.seeds.end()};
}

/// Whether a run belongs to a cell, whatever its seed and what is chosen.
bool is_of(const SweepSpec& sweep, const SweepRun& run, const GalleryCell& cell) {
    for (std::size_t axis = 0; axis < sweep.grid.size(); ++axis) {
        const auto wanted = cell.find(sweep.grid[axis].key);
        if (wanted != cell.end() && wanted->second != run.values[axis]) return false;
    }
    return true;
}

}  // namespace

std::string cell_text(const GalleryCell& cell) {
    std::string text;
    for (const auto& [key, value] : cell) text += (text.empty() ? "" : ", ") + key + "=" + value;
    return text;
}

Cells::Cells(const GalleryEntry& entry, const std::map<std::size_t, GalleryValues>& values,
             const std::vector<SweepRow>& rows)
    : entry_(entry),
      values_(values),
      results_{entry.sweep, expand_sweep(entry.sweep), rows},
      chosen_(chosen_values(results_)),
      seeds_(scoring_seeds(entry.sweep)),
      quantities_(entry.quantities()) {}

std::optional<double> Cells::value(const GalleryCell& cell, const GalleryQuantity& quantity,
                                   std::uint64_t seed) const {
    const auto run = run_of(cell, seed);
    const auto found = run ? values_.find(*run) : values_.end();
    if (found == values_.end()) return std::nullopt;
    const auto at = std::find(quantities_.begin(), quantities_.end(), quantity) - quantities_.begin();
    return found->second.at(static_cast<std::size_t>(at));
}

const ChosenValues* Cells::chosen(const GalleryCell& cell) const {
    if (!chosen_) return nullptr;
    for (const ChosenValues& one : *chosen_) {
        const auto scored =
            std::find_if(results_.runs.begin(), results_.runs.end(), [&](const SweepRun& run) {
                return is_of(entry_.sweep, run, cell) && is_scored(entry_.sweep, run, {one});
            });
        if (scored != results_.runs.end()) return &one;
    }
    return nullptr;
}

GalleryArm Cells::arm(const GalleryCell& cell) const {
    GalleryArm arm;
    arm.name = cell_text(cell);
    if (const ChosenValues* values = chosen(cell)) arm.chosen = chosen_text(entry_.sweep, *values);
    GalleryQuantity quantity;
    quantity.kind = GalleryQuantity::Kind::Learned;
    const bool asked = std::find(quantities_.begin(), quantities_.end(), quantity) != quantities_.end();
    std::vector<double> losses;
    for (const std::uint64_t seed : seeds_) {
        const auto run = run_of(cell, seed);
        const auto row = std::find_if(results_.rows.begin(), results_.rows.end(),
                                      [&](const SweepRow& one) { return run && one.run == *run; });
        const auto loss = row == results_.rows.end() ? std::nullopt : compared_loss(*row);
        if (!loss) continue;
        losses.push_back(*loss);
        if (const auto one = asked ? value(cell, quantity, seed) : std::nullopt) {
            arm.learned_known = true;
            arm.learned += *one > 0;
        }
    }
    arm.ended = losses.size();
    if (!losses.empty()) arm.loss = median(std::move(losses));
    return arm;
}

std::vector<GalleryCell> Cells::all() const {
    std::vector<GalleryCell> cells;
    for (const SweepRun& run : results_.runs) {
        GalleryCell cell;
        for (std::size_t i = 0; i < entry_.sweep.grid.size(); ++i)
            if (const std::string& key = entry_.sweep.grid[i].key; !is_chosen(entry_.sweep, key))
                cell[key] = run.values[i];
        if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(std::move(cell));
    }
    return cells;
}

std::optional<bool> Cells::learned(const GalleryCell& cell) const {
    GalleryQuantity quantity;
    quantity.kind = GalleryQuantity::Kind::Learned;
    int of = 0, count = 0;
    for (const std::uint64_t seed : seeds_)
        if (const auto one = value(cell, quantity, seed)) {
            ++of;
            count += *one > 0;
        }
    return of > 0 ? std::optional(2 * count >= of) : std::nullopt;
}

std::optional<std::size_t> Cells::run_of(const GalleryCell& cell, std::uint64_t seed) const {
    const bool choosing = !entry_.sweep.choice.keys.empty();
    if (choosing && !chosen_) return std::nullopt;
    for (const SweepRun& run : results_.runs)
        if (run.seed == seed && is_of(entry_.sweep, run, cell) &&
            (!choosing || is_scored(entry_.sweep, run, *chosen_)))
            return run.index;
    return std::nullopt;
}

}  // namespace normscope
