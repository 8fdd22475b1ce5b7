// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "core/theory/norm_jacobian.h"

#include <algorithm>
#include <cmath>
#include <string>

// The sums below may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler vectorise
// them.

namespace normscope {
namespace {

/// ‖Pv‖² for P on span{p, q}, from Σp², Σpq, Σq², Σpv, Σqv. A q in the span of p to rounding is skipped.
double projected(double pp, double pq, double qq, double pv, double qv) {
    double energy = pp > 0 ? pv * pv / pp : 0;
    const double share = pp > 0 ? pq / pp : 0;
    const double rest = qq - share * pq, overlap = qv - share * pv;
    if (rest > 1e-28 * qq) energy += overlap * overlap / rest;
    return energy;
}

}  // namespace

NormNullSpace::NormNullSpace(bool centred, std::size_t width, std::span<const double> gamma)
    : centred_(centred), weights_(width, 1.0), weights_square_(static_cast<double>(width)) {
    if (width == 0) throw InputError("x", "an empty token", "a width of at least 1");
    if (gamma.empty()) return;
    if (gamma.size() != width)
        throw InputError("gamma", "length " + std::to_string(gamma.size()),
                         "the norm's width " + std::to_string(width));
    double smallest_live = INFINITY;
    for (std::size_t i = 0; i < width; ++i) {
        if (!std::isfinite(gamma[i]))
            throw InputError("gamma[" + std::to_string(i) + "]", "not finite", "finite numbers");
        if (std::abs(gamma[i]) < std::abs(gamma[pivot_])) pivot_ = i;
        if (gamma[i] == 0)
            dead_channels_.push_back(i);
        else
            smallest_live = std::min(smallest_live, std::abs(gamma[i]));
    }
    weights_square_ = 0;
    for (std::size_t i = 0; i < width; ++i) {
        weights_[i] = gamma[i] == 0 ? 0 : smallest_live / gamma[i];
        weights_square_ += weights_[i] * weights_[i];
    }
}

/// γ ⊙ g ∈ span{1, x} (RMSNorm: span{x}) makes Jᵀg vanish. The generators are w and w ⊙ (x − x_pivot), w =
/// 1/γ up to a factor: the second is 0 where the first is largest, so that they stay independent however
/// small a γ is, and rounding is amplified by at most d.
template <class T>
NormNullSpace::Token NormNullSpace::token(const T* x, const T* gradient) const {
    const std::size_t d = width();
    const double* w = weights_.data();
    const double shift = centred_ ? static_cast<double>(x[pivot_]) : 0;
    double sum = 0, squares = 0, pq = 0, qq = 0, pg = 0, qg = 0, gg = 0;
#pragma omp simd reduction(+ : sum, squares, pq, qq, pg, qg, gg)
    for (std::size_t i = 0; i < d; ++i) {
        const double y = static_cast<double>(x[i]) - shift, g = static_cast<double>(gradient[i]);
        const double wy = w[i] * y, wg = w[i] * g;
        sum += y;
        squares += y * y;
        pq += w[i] * wy;
        qq += wy * wy;
        pg += wg;
        qg += wg * y;
        gg += g * g;
    }
    const double n = static_cast<double>(d);
    Token result{centred_ ? std::max(0.0, (squares - sum * sum / n) / n) : squares / n, {0, gg}};
    // A channel with γ = 0 joins the null space; a generator that is not 0 there is out of γ's reach.
    double of_dead = 0;
    bool reached = true;
    for (const std::size_t i : dead_channels_) {
        const double g = static_cast<double>(gradient[i]);
        of_dead += g * g;
        reached = reached && static_cast<double>(x[i]) == shift;
    }
    const bool ones = centred_ && dead_channels_.empty();
    if (!reached) qq = 0;
    result.backward.erased =
        of_dead + projected(ones ? weights_square_ : 0, ones ? pq : 0, qq, ones ? pg : 0, qg);
    if (!std::isfinite(squares)) result.variance = NAN;
    if (!std::isfinite(gg + squares)) result.backward = {NAN, NAN};
    return result;
}

template <class T>
ErasedEnergy NormNullSpace::erased_forward(const T* x, const double* change) const {
    const std::size_t d = width();
    // Any entry serves as the shift: it costs at most a factor d of rounding, and of a constant token nothing
    // is left.
    const double shift = centred_ ? static_cast<double>(x[0]) : 0;
    double sum = 0, squares = 0, of_change = 0, overlap = 0, total = 0;
#pragma omp simd reduction(+ : sum, squares, of_change, overlap, total)
    for (std::size_t i = 0; i < d; ++i) {
        const double y = static_cast<double>(x[i]) - shift;
        sum += y;
        squares += y * y;
        of_change += change[i];
        overlap += y * change[i];
        total += change[i] * change[i];
    }
    if (!std::isfinite(total + squares)) return {NAN, NAN};
    return {centred_ ? projected(static_cast<double>(d), sum, squares, of_change, overlap)
                     : projected(0, 0, squares, 0, overlap),
            total};
}

template NormNullSpace::Token NormNullSpace::token(const float*, const float*) const;
template NormNullSpace::Token NormNullSpace::token(const double*, const double*) const;
template ErasedEnergy NormNullSpace::erased_forward(const float*, const double*) const;
template ErasedEnergy NormNullSpace::erased_forward(const double*, const double*) const;

}  // namespace normscope
