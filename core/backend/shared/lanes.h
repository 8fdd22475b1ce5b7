// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/shared_code.h"

#include <cmath>
#include <cstdint>

namespace normscope {

/// Row kernels are written once, over a lanes policy that defines how many neighbouring entries of a row are
/// processed together and how they are reduced. `Serial` is the reference (one entry, any scalar); `Simd`
/// (cpu/kernels/simd.h) is the policy of the CPU, `Warp` (cuda/launch/warp.h) that of the GPU, where each of
/// 32 lanes runs the row's code on its own entries. A policy offers: scalar, vec, size, load, store, all,
/// sum, max, keep, larger, exp, log, map; owns(i): whether the calling lane stored entry i and may change it
/// again; and product: a·b, rounded before anything is added. Of a sum of two products a compiler contracts
/// either one into a fused multiply-add, and not the same one in a loop and in its tail: product leaves no
/// choice.
///
/// Between lanes only sum and max order accesses to memory: what one lane stores after them another may have
/// loaded before.
///
/// The loops run over full groups and one tail; Full and Tail are passed to the policy.
struct Full {};
struct Tail {
    int count;  ///< entries of the last, partial group: 1 … size − 1
};

/// Calls body(i, Full{}) for each full group of a row of n entries and body(i, Tail{…}) for the rest.
template <class L, class Body>
NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) void for_lanes(int n, Body&& body) {
    int i = 0;
    for (; i + L::size <= n; i += L::size) body(i, Full{});
    if constexpr (L::size > 1)
        if (i < n) body(i, Tail{n - i});
}

template <class T>
struct Serial {
    using scalar = T;
    using vec = T;
    static constexpr int size = 1;
    NORMSCOPE_SHARED_CODE static T load(const T* p, Full) { return *p; }
    NORMSCOPE_SHARED_CODE static void store(T* p, T v, Full) { *p = v; }
    NORMSCOPE_SHARED_CODE static T all(T v) { return v; }
    NORMSCOPE_SHARED_CODE static T sum(T v) { return v; }
    NORMSCOPE_SHARED_CODE static T max(T v) { return v; }
    NORMSCOPE_SHARED_CODE static T keep(T v, Full, T = 0) { return v; }
    NORMSCOPE_SHARED_CODE static T larger(T a, T b) { return a > b ? a : b; }
    NORMSCOPE_SHARED_CODE static T product(T a, T b) { return a * b; }
    NORMSCOPE_SHARED_CODE static T exp(T v) { return std::exp(v); }
    NORMSCOPE_SHARED_CODE static T log(T v) { return std::log(v); }
    NORMSCOPE_SHARED_CODE static bool owns(int) { return true; }
    template <class F>
    NORMSCOPE_SHARED_CODE static T map(T v, F f) {
        return f(v);
    }
};

}  // namespace normscope
