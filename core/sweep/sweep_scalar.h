// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// One number of a recording: an array of a probe at its last sample, over all entries of the array.
struct SweepScalar {
    enum class Over {
        Largest,
        Mean,
        Smallest,
        FirstOverLast,
        Median,
        First,
        Last,
        Variation,     ///< standard deviation ÷ |mean|
        Trend,         ///< Spearman's rank correlation of the entries with their index
        PositiveShare  ///< the share of entries above 0
    };
    std::string probe, array;
    Over over = Over::Largest;
    bool operator==(const SweepScalar&) const = default;

    std::string over_text() const;  ///< "largest"
    /// The inverse of over_text(); InputError with the words allowed, `where` begins it.
    static Over over_of(const std::string& text, const std::string& where);
    std::string title() const;  ///< "gradients: hidden, first over last"
    std::string unit() const;   ///< of the array; empty where dimensionless, and of a ratio
};

/// The scalars of recordings of this recipe that a map offers: of each array of its probes the largest, mean
/// and smallest entry, and of one along the depth the ratio of the first to the last.
std::vector<SweepScalar> sweep_scalars(const Recipe& recipe);

/// One number over all entries of an array of a sample. Entries that are not a number (where a quantity is
/// not defined) are skipped. Nullopt where no entry is left; a ratio also where an end is not defined or the
/// last entry is 0, the first and last entry where it is not defined, variation and trend of less than two
/// entries or without a finite value, a trend also where all entries are equal. Of a sample of selected
/// places alone (ProbePlan::only) the first and the last entry and their ratio where they are measured, else
/// nullopt.
std::optional<double> value_over(const ProbeResult& sample, const NamedArray& array, SweepScalar::Over over);

/// value_over() of the last sample; nullopt also without one.
std::optional<double> scalar_of(const RunData& recorded, const SweepScalar& scalar);

}  // namespace normscope
