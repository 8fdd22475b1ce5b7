// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

#include <cmath>

namespace normscope::row {

/// Mean and 1/σ_ε of `Rows` rows of d entries that follow each other: σ_ε = √(var + ε) with the biased
/// variance for LayerNorm; for RMSNorm the mean is 0 and σ_ε = √(mean(x²) + ε). Two passes, so that a large
/// common offset does not cancel. A sum is a chain of additions, each of which waits for the one before: of
/// several rows a processor computes the chains at the same time. The bits of a row do not depend on Rows.
template <class L, bool Centred, int Rows>
NORMSCOPE_SHARED_CODE inline void norm_statistics_of(const typename L::scalar* x, int d,
                                                     typename L::scalar eps, typename L::scalar* mean,
                                                     typename L::scalar* rstd) {
    using T = typename L::scalar;
    T m[Rows] = {};
    if constexpr (Centred) {
        decltype(L::all(0)) sums[Rows];
        for (int r = 0; r < Rows; ++r) sums[r] = L::all(0);
        for_lanes<L>(d, [&](int i, auto part) {
            for (int r = 0; r < Rows; ++r) sums[r] += L::load(x + r * d + i, part);
        });
        for (int r = 0; r < Rows; ++r) m[r] = L::sum(sums[r]) / T(d);
    }
    decltype(L::all(0)) squares[Rows];
    for (int r = 0; r < Rows; ++r) squares[r] = L::all(0);
    for_lanes<L>(d, [&](int i, auto part) {
        for (int r = 0; r < Rows; ++r) {
            const auto c = L::keep(L::load(x + r * d + i, part) - m[r], part);
            squares[r] += c * c;
        }
    });
    for (int r = 0; r < Rows; ++r) {
        mean[r] = m[r];
        rstd[r] = T(1) / std::sqrt(L::sum(squares[r]) / T(d) + eps);
    }
}

/// The same of one row.
template <class L, bool Centred>
NORMSCOPE_SHARED_CODE inline void norm_statistics(const typename L::scalar* x, int d, typename L::scalar eps,
                                                  typename L::scalar& mean, typename L::scalar& rstd) {
    norm_statistics_of<L, Centred, 1>(x, d, eps, &mean, &rstd);
}

/// y = scale·(γ ∘ x̂ + β), x̂ = (x − mean)·rstd. gamma and beta may be null (1 and 0). Y: what the policy
/// stores by, a pointer.
template <class L, class Y>
NORMSCOPE_SHARED_CODE inline void norm_apply(const typename L::scalar* x, int d, typename L::scalar mean,
                                             typename L::scalar rstd, const typename L::scalar* gamma,
                                             const typename L::scalar* beta, typename L::scalar scale, Y y) {
    for_lanes<L>(d, [&](int i, auto part) {
        auto v = (L::load(x + i, part) - mean) * rstd;
        if (gamma) v = v * L::load(gamma + i, part);
        if (beta) v = v + L::load(beta + i, part);
        L::store(y + i, v * scale, part);
    });
}

/// The symmetric core of the norm's Jacobian applied to u (theory: J = diag(γ)·C with
/// C = rstd·(I − 11ᵀ/d − x̂x̂ᵀ/d), RMSNorm without the 11ᵀ term; [N] §2, [E] Lemma A.1; ε included through
/// rstd). One projection is used in both directions: JVP = γ ∘ C(u), VJP = C(γ ∘ u). `weight` (may be null)
/// multiplies u first. out = (add ? out : 0) + scale·C(weight ∘ u). U: what the policy loads u by, a pointer.
template <class L, bool Centred, class U>
NORMSCOPE_SHARED_CODE inline void norm_project(const typename L::scalar* x, int d, typename L::scalar mean,
                                               typename L::scalar rstd, const typename L::scalar* weight, U u,
                                               typename L::scalar scale, bool add, typename L::scalar* out) {
    using T = typename L::scalar;
    auto sum = L::all(0), dot = L::all(0);
    for_lanes<L>(d, [&](int i, auto part) {
        auto g = L::load(u + i, part);
        if (weight) g = g * L::load(weight + i, part);
        const auto x_hat = (L::load(x + i, part) - mean) * rstd;
        if constexpr (Centred) sum += g;
        dot += L::keep(g * x_hat, part);
    });
    const T mean_g = Centred ? L::sum(sum) / T(d) : T(0), mean_dot = L::sum(dot) / T(d);
    for_lanes<L>(d, [&](int i, auto part) {
        auto g = L::load(u + i, part);
        if (weight) g = g * L::load(weight + i, part);
        const auto x_hat = (L::load(x + i, part) - mean) * rstd;
        auto v = (g - mean_g - x_hat * mean_dot) * (rstd * scale);
        if (add) v = v + L::load(out + i, part);
        L::store(out + i, v, part);
    });
}

/// Parameter gradients of one row: dgamma += scale·(dy ∘ x̂), dbeta += scale·dy (dbeta may be null).
template <class L>
NORMSCOPE_SHARED_CODE inline void norm_parameter_gradient(const typename L::scalar* x, int d,
                                                          typename L::scalar mean, typename L::scalar rstd,
                                                          const typename L::scalar* dy,
                                                          typename L::scalar scale,
                                                          typename L::scalar* dgamma,
                                                          typename L::scalar* dbeta) {
    for_lanes<L>(d, [&](int i, auto part) {
        const auto g = L::load(dy + i, part) * scale;
        const auto x_hat = (L::load(x + i, part) - mean) * rstd;
        L::store(dgamma + i, L::load(dgamma + i, part) + g * x_hat, part);
        if (dbeta) L::store(dbeta + i, L::load(dbeta + i, part) + g, part);
    });
}

}  // namespace normscope::row
