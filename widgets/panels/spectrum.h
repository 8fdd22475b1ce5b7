// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_result.h"

#include <optional>
#include <vector>

namespace normscope::widgets {

/// The singular values of one Jacobian, with the exact nulls apart.
struct Spectrum {
    std::vector<double> sigma;  ///< ascending, all above the null threshold
    int nulls = 0;

    /// Linear interpolation between order statistics, q in [0, 1]; NaN when there are none.
    double quantile(double q) const;
};

/// Sorts the values apart. A value counts as an exact null when σ ≤ √d · ε · σ_max, ε the machine epsilon of
/// the precision in which the Jacobian was computed: rounding alone puts that much where the exact value is 0
/// (norms have two such directions by construction). At d = 64 that is 1.8e-15·σ_max in float64
/// and 9.5e-7·σ_max in float32; the ε-direction of a norm, ε/(var+ε) relative to the others, is as a rule
/// above it and stays on the axis. Non-finite values are left out of both.
Spectrum spectrumOf(const double* values, std::size_t d, double epsilon);

/// A row-major array [rows, d] or, for one Jacobian, [d]; nothing when the sample lacks it.
std::optional<std::vector<Spectrum>> spectraOf(const ProbeResult& sample, const std::string& array,
                                               double epsilon);

}  // namespace normscope::widgets
