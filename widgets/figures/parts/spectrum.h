// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope::widgets {

/// The null counts of one Jacobian from the jacobian probe; a recording may lack them.
struct NullCounts {
    int exact = 0;    ///< singular values that are 0 by structure
    int epsilon = 0;  ///< directions that only the norm's ε keeps from being null; they stay among the values
    int below = 0;    ///< values that float64 cannot distinguish from 0

    /// For the lane of zeros: "1" exact null; "1–3" where 2 values are below the resolution; then ε where
    /// there are ε-directions. Empty if none.
    std::string glyph() const;
};

/// The singular values of one Jacobian, without those that are 0 or indistinguishable from it, if counted.
struct Spectrum {
    std::vector<double> sigma;  ///< ascending
    std::optional<NullCounts> nulls;
};

/// One Jacobian from its d values in any order; non-finite ones are skipped, as are the smallest ones, as
/// many as are exact nulls or below the resolution. Without counts (older recordings) every value is kept.
Spectrum spectrumOf(const double* values, std::size_t d, std::optional<NullCounts> nulls);

/// A row-major array [rows, d] or, for one Jacobian, [d], with the counts of the last token's sublayer_sv
/// (for mean_sv too), layer_sv or end_to_end_sv (for position_end_to_end_sv too); nullopt when the sample
/// lacks the array.
std::optional<std::vector<Spectrum>> spectraOf(const ProbeResult& sample, const std::string& array);

}  // namespace normscope::widgets
