// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace normscope {

/// Unit round-off of rounding to nearest: 2^-p with p significant bits.
inline constexpr double kUnitRoundOffBf16 = 0x1p-8, kUnitRoundOffFp16 = 0x1p-11;

/// ρ_LN = (σ²/ε)·d·u ([B]), dimensionless: the ratio of the variance of a norm's input to the ε added to it,
/// times the worst relative round-off of a sum over d channels. Below 1, where σ² < ε/(d·u), Baek calls the
/// norm ε-dominated; but ε's share ε/(σ² + ε) is then only above d·u/(1 + d·u): 3 % at d = 64 in FP16.
///
/// `variance`: σ², the median over tokens of the variance of the norm's input (RMSNorm: of its mean square).
///
/// Errata: d and u multiply. σ² is that of the norm's *input*: the paper's first code reads the output, whose
/// variance is about 1 whatever comes in. u is the unit round-off of the paper's table; the first code takes
/// machine epsilon, twice as much. And a small ρ_LN does not mean a sensitive norm: a larger ε lowers ‖J‖ =
/// 1/σ_ε.
///
/// Infinite where ε = 0 and σ² > 0. Throws InputError on a negative or non-finite value, on a width of 0, and
/// where σ² = ε = 0.
double rho_ln(double variance, double eps, std::size_t width, double unit_round_off);

}  // namespace normscope
