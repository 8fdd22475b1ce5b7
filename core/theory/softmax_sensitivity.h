// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/theory/number_partition.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace normscope {

/// θ of one row with its certificate: lower <= θ <= upper for the values as given, rounding included. `value`
/// is attained by a subset; it lies above `lower` by no more than the rounding of its own sum.
struct Sensitivity {
    double value = 0;
    double lower = 0;
    double upper = 0;
};

struct SensitivityOptions {
    double tolerance = 1e-12;  ///< stop when upper − lower is below; > 0
    std::size_t work_limit =
        100'000;  ///< nodes of the complete search (about 0.1 µs each); then [lower, 1] is returned
    std::size_t exact_entries = 16;  ///< up to this many non-zero entries θ is exact, whatever the tolerance
    double sum_tolerance = 1e-6;  ///< a row may sum to 1 ± this and is normalised; 1e-2 suits emulated types

    /// For float32 rows: a certificate of 1e-6, nothing more.
    static constexpr SensitivityOptions single_precision() { return {1e-6, 100'000, 0, 1e-6}; }
};

/// The exact sensitivity of a softmax row p: θ(p) = 4 max_S p(S)(1 − p(S)) = τ·‖∂p/∂logits‖_{∞→1}, [E]
/// Theorem 4.2. Finding S is number partitioning: with d = |p(S) − p(complement)|, θ = 1 − d², which is how
/// it is computed (no cancellation). p_max >= 1/2 is closed: S = {argmax}. Erratum [E] App. E.2: the prefix
/// heuristic is not exact.
///
/// Keeps its workspace between rows: one object per thread.
class SoftmaxSensitivity {
  public:
    explicit SoftmaxSensitivity(const SensitivityOptions& options = {}) : options_(options) {}

    /// Throws InputError on an empty row, a negative or NaN entry, or a sum too far from 1.
    Sensitivity solve(std::span<const double> p) { return solve_row(p); }
    Sensitivity solve(std::span<const float> p) { return solve_row(p); }

    /// S* of the last row, ascending: the worst logit perturbation is +1 on it and −1 elsewhere ([E] App. B).
    std::vector<std::size_t> subset() const;

  private:
    template <class Scalar>
    Sensitivity solve_row(std::span<const Scalar> p);

    SensitivityOptions options_;
    NumberPartition partition_;
    std::vector<double> values_;            ///< the non-zero entries
    std::vector<std::uint32_t> positions_;  ///< and their indices in the row
    bool closed_form_ = false;
    std::size_t argmax_ = 0;
};

/// One row at a time, for callers without a loop.
Sensitivity softmax_sensitivity(std::span<const double> p, const SensitivityOptions& options = {});
Sensitivity softmax_sensitivity(std::span<const float> p,
                                const SensitivityOptions& options = SensitivityOptions::single_precision());

struct SensitivityWithSubset {
    Sensitivity theta;
    std::vector<std::size_t> subset;  ///< S*, ascending
};
SensitivityWithSubset theta_with_subset(std::span<const double> p, const SensitivityOptions& options = {});

/// θ of the uniform row of `entries` >= 1 entries ([E] Thm 4.2): 1 for an even count, else 1 − 1/entries².
/// The reference of a row's θ: a uniform row of odd length never reaches 1.
constexpr double uniform_row_sensitivity(std::size_t entries) {
    const auto length = static_cast<double>(entries);
    return entries % 2 == 0 ? 1 : 1 - 1 / (length * length);
}

/// What [E] App. E.2 computes instead: the prefix of the sorted row nearest to 1/2. A lower bound of θ only;
/// on (0.35, 0.30, 0.20, 0.15) it gives 0.91 where θ = 1. p and errors as for SoftmaxSensitivity.
double prefix_heuristic_sensitivity(std::span<const double> p,
                                    double sum_tolerance = SensitivityOptions{}.sum_tolerance);

/// The bound of [E] Corollary 4.3 (3) for a row whose largest entry is 1 − kappa, kappa in [0, 1]. Erratum: θ
/// <= 4κ(1 − κ) (with equality) holds only for κ <= 1/2; beyond that 1 is the bound (uniform over ten: 0.36
/// against θ = 1).
double peaked_row_bound(double kappa);

}  // namespace normscope
