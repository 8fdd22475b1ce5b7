// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

#include <cstring>

namespace normscope::row {

/// out = a·x + b·y. out may be x or y.
template <class L>
NORMSCOPE_SHARED_CODE inline void axpby(int count, typename L::scalar a, const typename L::scalar* x,
                                        typename L::scalar b, const typename L::scalar* y,
                                        typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * a + L::product(L::load(y + i, part), L::all(b)), part);
    });
}

/// out = a·x. out may be x.
template <class L>
NORMSCOPE_SHARED_CODE inline void scale(int count, typename L::scalar a, const typename L::scalar* x,
                                        typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) { L::store(out + i, L::load(x + i, part) * a, part); });
}

/// out = a·(x ∘ y). out may be x or y.
template <class L>
NORMSCOPE_SHARED_CODE inline void multiply(int count, typename L::scalar a, const typename L::scalar* x,
                                           const typename L::scalar* y, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// out += a·(x ∘ y).
template <class L>
NORMSCOPE_SHARED_CODE inline void add_product(int count, typename L::scalar a, const typename L::scalar* x,
                                              const typename L::scalar* y, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(out + i, part) + L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// Adds the products of two vectors' lanes to `sums`, in float64.
template <class L>
inline void add_products(typename L::vec x, typename L::vec y, double (&sums)[L::size]) {
    typename L::scalar a[L::size], b[L::size];
    std::memcpy(a, &x, sizeof a);
    std::memcpy(b, &y, sizeof b);
    for (int k = 0; k < L::size; ++k) sums[k] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
}

/// Σ x·y in float64: a gate's gradient is such a sum, with possible cancellation.
template <class L>
inline double dot(int count, const typename L::scalar* x, const typename L::scalar* y) {
    double sums[L::size] = {};
    for_lanes<L>(
        count, [&](int i, auto part) { add_products<L>(L::load(x + i, part), L::load(y + i, part), sums); });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

/// out = Σ_s sources[s], in order; out may be sources[0]. Returns Σ out² in float64: the square of a gradient
/// that vanished is below float32's smallest value.
template <class L>
inline double add_up(int count, int n, const typename L::scalar* const* sources, typename L::scalar* out) {
    double squares[L::size] = {};
    for_lanes<L>(count, [&](int i, auto part) {
        auto sum = L::load(sources[0] + i, part);
        for (int s = 1; s < n; ++s) sum += L::load(sources[s] + i, part);
        L::store(out + i, sum, part);
        add_products<L>(sum, sum, squares);
    });
    double total = 0;
    for (const double square : squares) total += square;
    return total;
}

}  // namespace normscope::row
