// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/cpu/linear_algebra/linear_map.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace normscope {

struct SpectrumOptions {
    int count = 16;           ///< values requested at each end, at most the map's size
    double tolerance = 1e-6;  ///< stop when every requested top value has this relative error bar
    bool sharpen = true;      ///< false: bars of the top are residuals alone, for a search that stops early
    bool vectors = false;     ///< also the singular vectors of the largest value
    bool frobenius = false;   ///< also ‖J‖_F
    int max_dimension = 640;  ///< of the search space; then the result is returned unconverged
    std::size_t memory = std::size_t{256} << 20;  ///< bytes of the search spaces, four blocks at least
    std::uint64_t seed = 0;                       ///< of the random start
    std::function<void()> check = {};  ///< called between products; exceptions (a cancellation) propagate
};

/// The ends of a spectrum. An error is a bar: the i-th value of the map lies within value ± error. A map with
/// a non-finite product gives NaN everywhere.
struct Spectrum {
    std::vector<double> top, top_error;        ///< [count] descending
    std::vector<double> bottom, bottom_error;  ///< [count] ascending; upper bounds unless `complete`
    std::vector<double> left, right;           ///< [size] singular vectors of top[0], if requested
    double squared_norm = 0;                   ///< ‖J‖_F², if requested
    double squared_norm_error = 0;             ///< standard error of that estimate; 0 where exact
    bool converged = false;                    ///< the top meets the tolerance
    bool complete = false;  ///< the whole spectrum was found: bottom and ‖J‖_F² are exact up to round-off
    int dimension = 0;      ///< of the search space at the end
};

/// Both ends of the spectrum from products alone: block Golub–Kahan–Lanczos bidiagonalisation (Golub, Luk,
/// Overton 1981) with full reorthogonalisation in float64. Blocks are as wide as `count`, so that no
/// multiplicity among the requested values is missed, and start from counter-based random numbers: the same
/// bits on any number of threads.
///
/// Bars of the top. With Ritz triples (σ̂_i, u_i, v_i), J v_i = σ̂_i u_i and r_i = Jᵀu_i − σ̂_i v_i, the
/// extension
/// [[0, J], [Jᵀ, 0]] gives |σ − σ̂_i| ≤ ‖r_i‖, and where the next values lie lower by a gap the quadratic
/// |σ_i − σ̂_i| ≤ Σ_{j≤m}‖r_j‖² / (σ̂_i − (σ̂_{m+1} + ‖r_{m+1}‖)) (Mathias 1998); the smaller one is given,
/// plus round-off. That no value higher up was missed rests on the random start, as in every such method; the
/// round-off of the products is measured, as the difference of J and Jᵀ on the search space, not assumed.
/// Bars of the bottom. Ritz values bound the smallest singular values from above (interlacing); no residual
/// proves that there is nothing below, so the bar reaches down to 0 unless the search space became the whole
/// space. ‖J‖_F²: exact on the search space, the rest from `count` random vectors (Meyer et al. 2021,
/// Hutch++).
Spectrum block_lanczos(const LinearMap& map, const SpectrumOptions& options, ThreadPool& pool);

/// The bars of the first `count` of the approximate values (descending), before round-off, from all their
/// residuals: the smaller one of the two bounds above.
std::vector<double> residual_bars(const std::vector<double>& values, const std::vector<double>& residuals,
                                  int count);

/// The bar of singular values from an explicit [size, size] matrix, relative to the largest: the
/// decomposition's round-off and the entries' own.
double dense_error(int size, double precision);

/// The same from the explicit matrix (LAPACK dgesdd), complete; memory 4·size² values.
Spectrum dense_spectrum(const LinearMap& map, const SpectrumOptions& options);

}  // namespace normscope
