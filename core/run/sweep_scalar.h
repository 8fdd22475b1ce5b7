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
    enum class Over { Largest, Mean, Smallest, FirstOverLast };
    std::string probe, array;
    Over over = Over::Largest;
    bool operator==(const SweepScalar&) const = default;

    std::string over_text() const;  ///< "largest"
    std::string title() const;      ///< "gradients: hidden, first ÷ last"
    std::string unit() const;       ///< of the array; empty where dimensionless, and of a ratio
};

/// The scalars that recordings of this recipe have: of each array of its probes the largest, mean and
/// smallest entry, and of one along the depth the ratio of the first to the last.
std::vector<SweepScalar> sweep_scalars(const Recipe& recipe);

/// Entries that are not a number (where a quantity is not defined) are skipped. Nullopt without a sample, or
/// where no entry is left; a ratio also where an end is not defined or the last entry is 0.
std::optional<double> scalar_of(const RunData& recorded, const SweepScalar& scalar);

}  // namespace normscope
