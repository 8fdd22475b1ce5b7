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

/// Finite-depth Lyapunov exponents by the QR method (Benettin et al. 1980): `count` random orthonormal
/// directions are carried through the maps and orthonormalised after each, Z_l = J_l Q_{l−1} = Q_l R_l;
/// exponent i is (1/D) Σ_l ln |(R_l)_ii|, in nat per layer. They depend on the random start by O(1/D); their
/// sum over the first i is the growth rate of an i-dimensional volume. −∞ where a direction is lost
/// altogether. NaN where a product is not finite.
std::vector<double> lyapunov_exponents(std::span<const LinearMap> maps, int count, std::uint64_t seed,
                                       ThreadPool& pool, const std::function<void()>& check = {});

}  // namespace normscope
