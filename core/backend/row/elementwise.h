// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lanes.h"

namespace normscope::row {

/// out = a·x + b·y. out may be x or y.
template <class L>
inline void combine(int count, typename L::scalar a, const typename L::scalar* x, typename L::scalar b,
                    const typename L::scalar* y, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * a + L::load(y + i, part) * b, part);
    });
}

/// out = a·x. out may be x.
template <class L>
inline void scale(int count, typename L::scalar a, const typename L::scalar* x, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) { L::store(out + i, L::load(x + i, part) * a, part); });
}

/// out = a·(x ∘ y). out may be x or y.
template <class L>
inline void multiply(int count, typename L::scalar a, const typename L::scalar* x, const typename L::scalar* y,
                     typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// out += a·(x ∘ y).
template <class L>
inline void add_product(int count, typename L::scalar a, const typename L::scalar* x, const typename L::scalar* y,
                        typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(out + i, part) + L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// Σ x·y.
template <class L>
inline typename L::scalar dot(int count, const typename L::scalar* x, const typename L::scalar* y) {
    auto sum = L::all(0);
    for_lanes<L>(count, [&](int i, auto part) { sum += L::load(x + i, part) * L::load(y + i, part); });
    return L::sum(sum);
}

/// out = Σ_s sources[s], in order; out may be sources[0]. Returns Σ out² in float64: the square of a gradient that
/// vanished is below float32's smallest number.
template <class L>
inline double add_up(int count, int n, const typename L::scalar* const* sources, typename L::scalar* out) {
    double squares[L::size] = {};
    for_lanes<L>(count, [&](int i, auto part) {
        auto sum = L::load(sources[0] + i, part);
        for (int s = 1; s < n; ++s) sum += L::load(sources[s] + i, part);
        L::store(out + i, sum, part);
        typename L::scalar lanes[L::size];
        std::memcpy(lanes, &sum, sizeof lanes);
        for (int k = 0; k < L::size; ++k) squares[k] += static_cast<double>(lanes[k]) * static_cast<double>(lanes[k]);
    });
    double total = 0;
    for (const double square : squares) total += square;
    return total;
}

}  // namespace normscope::row
