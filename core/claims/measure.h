// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/number_text.h"
#include "core/claims/claim.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

// Helpers of the claims' rows.

namespace normscope {

// What the rows expect.
inline constexpr auto kHolds = ClaimVerdict::Holds, kFails = ClaimVerdict::Fails,
                      kCorrected = ClaimVerdict::Corrected;

/// "needs WHAT".
inline ClaimResult needs(const std::string& what) {
    ClaimResult result;
    result.detail = "needs " + what;
    return result;
}
inline ClaimResult not_applicable(const std::string& why) {
    ClaimResult result;
    result.verdict = ClaimVerdict::NotApplicable;
    result.detail = why;
    return result;
}

/// Of a statement that has a corrected form.
inline ClaimVerdict stated_or_corrected(bool as_stated, bool as_corrected) {
    return as_stated ? ClaimVerdict::Holds : as_corrected ? ClaimVerdict::Corrected : ClaimVerdict::Fails;
}
inline ClaimVerdict holds_if(bool holds) {
    return holds ? ClaimVerdict::Holds : ClaimVerdict::Fails;
}
/// Of a statement that a counter-example refutes; `reference` false: the quantities that would show it are
/// themselves not as expected, so nothing follows.
inline ClaimVerdict refuted_if(bool counter_example, bool reference = true) {
    if (!reference) return ClaimVerdict::Unknown;
    return counter_example ? ClaimVerdict::Fails : ClaimVerdict::Holds;
}

/// Three digits.
inline std::string text(double value) {
    return number_text(value, 3);
}

/// Keeps the sample that is furthest from the statement.
struct Worst {
    double residual = -std::numeric_limits<double>::infinity(), value = ClaimResult::kNone,
           bound = ClaimResult::kNone;
    std::int64_t samples = 0;

    /// NaN counts as infinitely far.
    void add(double at_residual, double at_value = ClaimResult::kNone, double at_bound = ClaimResult::kNone) {
        ++samples;
        const double r = std::isnan(at_residual) ? std::numeric_limits<double>::infinity() : at_residual;
        if (r <= residual) return;
        residual = r;
        value = at_value;
        bound = at_bound;
    }
    /// value <= bound, relative to the bound.
    void add_bounded(double at_value, double at_bound) {
        add((at_value - at_bound) / std::abs(at_bound), at_value, at_bound);
    }
    /// value = bound, relative to the larger.
    void add_equal(double at_value, double at_bound, double floor = 0) {
        const double scale = std::max({std::abs(at_value), std::abs(at_bound), floor});
        add(scale > 0 ? std::abs(at_value - at_bound) / scale : 0, at_value, at_bound);
    }
    ClaimResult result(ClaimVerdict verdict, std::string detail) const {
        return {verdict, value, bound, residual, samples, std::move(detail)};
    }
};

/// Reproducible random numbers of a row.
class RandomNumbers {
  public:
    explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}
    double normal() { return normal_(engine_); }
    double uniform(double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(engine_);
    }
    std::vector<double> normals(std::size_t count, double scale = 1) {
        std::vector<double> values(count);
        for (double& v : values) v = scale * normal();
        return values;
    }

  private:
    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
};

}  // namespace normscope
