// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/findings.h"
#include "core/sweep/sweep_choice.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// "stack.scheme=post, seed=3": the values of a cell.
std::string cell_text(const GalleryCell& cell);

/// The values of an entry's runs by cell and seed: nullopt where the run has not ended or has no such number.
/// What it is made of must outlive it.
class Cells {
  public:
    Cells(const GalleryEntry& entry, const std::map<std::size_t, GalleryValues>& values,
          const std::vector<SweepRow>& rows);

    /// Those that judge.
    const std::vector<std::uint64_t>& seeds() const { return seeds_; }
    std::optional<double> value(const GalleryCell& cell, const GalleryQuantity& quantity,
                                std::uint64_t seed) const;
    /// The run of a cell with a seed that judges, at what the cell chose; nullopt where there is none.
    std::optional<std::size_t> run_of(const GalleryCell& cell, std::uint64_t seed) const;
    /// What a cell chose; null without a choice and before it is made.
    const ChosenValues* chosen(const GalleryCell& cell) const;
    GalleryArm arm(const GalleryCell& cell) const;
    /// All combinations of the keys that are not chosen.
    std::vector<GalleryCell> all() const;
    /// Whether half of the runs of a cell or more learned; nullopt where that is unknown of all.
    std::optional<bool> learned(const GalleryCell& cell) const;

  private:
    const GalleryEntry& entry_;
    const std::map<std::size_t, GalleryValues>& values_;
    SweepResults results_;
    std::optional<std::vector<ChosenValues>> chosen_;
    std::vector<std::uint64_t> seeds_;
    std::vector<GalleryQuantity> quantities_;
};

}  // namespace normscope
