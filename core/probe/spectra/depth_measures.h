// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/block_lanczos.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace normscope {

/// A number and what it may be off by: a standard error where it was sampled, 0 where it is exact.
struct Estimate {
    double value, error;
};

/// ‖J‖_F²/‖J‖₂²: how many directions carry the map, from 1 to its size. Needs a spectrum with its Frobenius
/// norm.
Estimate stable_rank(const Spectrum& s);

/// |⟨u₁(J_l), v₁(J_{l+1})⟩|, in [0, 1]: whether the direction that one layer stretches most, as it comes out,
/// is the one that the next layer stretches most. 1/√size is what chance gives. Not defined up to round-off
/// where the largest singular value is multiple. Needs spectra with vectors.
double alignment(const Spectrum& earlier, const Spectrum& later);

/// ‖∏ J_l‖₂ / ∏ ‖J_l‖₂, in [0, 1]: what of the layers' gains adds up, given the norms of the whole and of
/// each layer.
double product_gain(double whole, std::span<const double> layers);

/// Exponents and what each may be off by, in nat per layer, descending but for round-off.
struct LyapunovExponents {
    std::vector<double> values, errors;
};

/// The `count` largest finite-depth Lyapunov exponents ln σ_i(J_D ⋯ J_1)/D by the QR method (Benettin et al.
/// 1980): an orthonormal frame is carried through the maps and orthonormalised after each, Z_l = J_l Q_{l−1}
/// = Q_l R_l; exponent i is (1/D) Σ_l ln |(R_l)_ii|. At finite depth that depends on the frame it starts
/// from, and from a random one all exponents come out alike. So the frame is warmed first: sweeps through J
/// and Jᵀ (subspace iteration with some directions to spare) bring it to the leading right singular vectors,
/// for which Z = J·Q has the diagonal R = Σ.
///
/// Errors: with R = R_D ⋯ R_1, JQ = PR exactly and JᵀP = QRᵀ + E; each σ_i(J) lies within ‖E·u_i‖ of σ_i(R)
/// (u_i its left vector; that no larger value was missed rests on the random start, as in block_lanczos.h).
/// The error is the largest distance of (ln R_ii)/D from (ln(σ_i(R) ± ‖E·u_i‖))/D, infinite where that
/// reaches 0. Sweeps end when all are below 1e-3 nat or after 30, with the errors as they are. −∞ (error 0)
/// where a direction is lost altogether. NaN where a product is not finite. `check` is called between
/// products and may throw.
LyapunovExponents lyapunov_exponents(std::span<const LinearMap> maps, int count, std::uint64_t seed,
                                     ThreadPool& pool, const std::function<void()>& check = {});

}  // namespace normscope
