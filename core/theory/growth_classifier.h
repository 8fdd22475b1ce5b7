// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace normscope {

/// How a positive quantity (MA, Var, …) grows with depth ℓ = 0, 1, …; the five models, all with additive
/// error in the log, so that a layer counts by its relative error ([K] §3 claims exponential for Pre-LN,
/// linear and quadratic for Peri-LN; a sum of independent branches of one size has an RMS of √(v₀ + 2ℓΔt²)):
enum class GrowthModel {
    constant,     ///< log v = log a
    square_root,  ///< log v = log √(a + bℓ),        b >= 0
    linear,       ///< log v = log(a + bℓ),          b >= 0
    quadratic,    ///< log v = log(a + bℓ + cℓ²),    b, c >= 0: the square of a linear bound has such
                  ///< coefficients
    exponential,  ///< log v = log a + rℓ;           r < 0 is decay
};
inline constexpr std::size_t growth_model_count = 5;

std::string_view growth_model_name(GrowthModel model);

struct GrowthFit {
    /// a, b, c; for the exponential model a, r. Unused ones are 0.
    std::array<double, 3> parameters{};
    double rms = 0;   ///< of the residuals of log v: the relative error per layer
    double aicc = 0;  ///< n·ln(rss/n) + 2K + 2K(K+1)/(n−K−1), K = parameters + 1 for the error's variance
};

struct GrowthClass {
    enum class Verdict { decided, undecided, too_few_layers };
    Verdict verdict = Verdict::undecided;
    GrowthModel best = GrowthModel::constant;   ///< lowest AICc; the class only when decided
    GrowthModel rival = GrowthModel::constant;  ///< the rival of lowest AICc; `best` itself where it has none
    double lead = 0;  ///< AICc of the rival minus that of `best`; infinite without a rival
    std::array<GrowthFit, growth_model_count>
        fits{};  ///< by GrowthModel; all zero when there are too few layers
};

inline constexpr std::size_t growth_minimum_layers = 8;
inline constexpr double growth_decisive_lead = 2;

/// Fits all models to values[ℓ], one per layer, and compares them by AICc. Decided when the best leads every
/// rival by 2. A model that contains the best one as a special case is no rival: it can never trail by more
/// than its parameter penalty, so a lead would be a matter of luck. So constant needs no margin (all contain
/// it), linear is not compared with quadratic, √-growth and linear are rivals, and a more complex model must
/// lead by 2. InputError on a value that is not finite and > 0.
GrowthClass classify_growth(std::span<const double> values);

/// The fitted value of a model at layer ℓ, for drawing it with the data.
double growth_model_value(GrowthModel model, const GrowthFit& fit, double layer);

}  // namespace normscope
