// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/linear_algebra/block_lanczos.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace normscope {

/// A value and its error: a standard error if sampled, 0 if exact.
struct Estimate {
    double value, error;
};

/// ‖J‖_F²/‖J‖₂²: the number of directions that carry the map, from 1 to its size. Needs a spectrum with its
/// Frobenius norm.
Estimate stable_rank(const Spectrum& s);

/// |⟨u₁(J_l), v₁(J_{l+1})⟩|, in [0, 1]: the alignment of one layer's strongest output direction with the next
/// layer's strongest input direction. 1/√size for random directions. Not defined up to round-off where the
/// largest singular value is multiple. Needs spectra with vectors.
double alignment(const Spectrum& earlier, const Spectrum& later);

/// ‖∏ J_l‖₂ / ∏ ‖J_l‖₂, in [0, 1]: the share of the layers' gains that accumulates, given the norms of the
/// whole and of each layer.
double product_gain(double whole, std::span<const double> layers);

/// Exponents and their errors, in nat per layer, descending but for round-off.
struct LyapunovExponents {
    std::vector<double> values, errors;
};

/// The `count` largest finite-depth Lyapunov exponents ln σ_i(J_D ⋯ J_1)/D by the QR method (Benettin et al.
/// 1980): an orthonormal frame is mapped and orthonormalised after each map, Z_l = J_l Q_{l−1}
/// = Q_l R_l; exponent i is (1/D) Σ_l ln |(R_l)_ii|. At finite depth that depends on the frame it starts
/// from, and from a random one all exponents are similar. So the frame is initialised first: sweeps through J
/// and Jᵀ (subspace iteration with some directions to spare) bring it to the leading right singular vectors,
/// for which Z = J·Q has the diagonal R = Σ.
///
/// Errors: with R = R_D ⋯ R_1, JQ = PR exactly and JᵀP = QRᵀ + E; each σ_i(J) lies within ‖E·u_i‖ of σ_i(R)
/// (u_i its left vector; that no larger value was missed rests on the random start, as in block_lanczos.h).
/// The error is the largest distance of (ln R_ii)/D from (ln(σ_i(R) ± ‖E·u_i‖))/D, infinite where that
/// reaches 0. Sweeps end when all are below 1e-3 nat or after 30, with the errors reached. −∞ (error 0) where
/// a direction is lost. NaN where a product is not finite. `check` is called between products and may throw.
LyapunovExponents lyapunov_exponents(std::span<const LinearMap> maps, int count, std::uint64_t seed,
                                     ThreadPool& pool, const std::function<void()>& check = {});

}  // namespace normscope
