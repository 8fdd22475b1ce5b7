// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/shared_code.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace normscope {

/// Row kernels are written once, over a lanes policy that defines how many neighbouring entries of a row are
/// processed together and how they are reduced. `Serial` is the reference (one entry, any scalar); `Simd` is
/// the CPU's production policy; `Warp` (cuda/warp.h) the GPU's, where each of 32 lanes runs the row's code on
/// its own entries. A policy offers: scalar, vec, size, load, store, all, sum, max, keep, larger, exp, log,
/// map, and owns(i): whether the calling lane stored entry i and may change it again.
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
    NORMSCOPE_SHARED_CODE static T exp(T v) { return std::exp(v); }
    NORMSCOPE_SHARED_CODE static T log(T v) { return std::log(v); }
    NORMSCOPE_SHARED_CODE static bool owns(int) { return true; }
    template <class F>
    NORMSCOPE_SHARED_CODE static T map(T v, F f) {
        return f(v);
    }
};

#if !defined(__CUDACC__)

/// GCC vectors of 64 bytes on every instruction set, so reductions run in the same order on every processor.
/// `Isa` is only a tag: it keeps the instantiations of files compiled for different processors apart.
template <class T, class Isa>
struct Simd {
    using scalar = T;
    typedef T vec __attribute__((vector_size(64)));
    using word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef word ivec __attribute__((vector_size(64)));
    static constexpr int size = 64 / sizeof(T);

#define NORMSCOPE_INLINE static inline __attribute__((always_inline))
    NORMSCOPE_INLINE vec load(const T* p, Full) {
        vec v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    NORMSCOPE_INLINE void store(T* p, vec v, Full) {
        std::memcpy(p, &v, sizeof v);
    }
#ifdef __AVX512F__
    NORMSCOPE_INLINE vec load(const T* p, Tail t) {
        const unsigned mask = (1u << t.count) - 1;
        if constexpr (sizeof(T) == 4)
            return (vec)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), p);
        else
            return (vec)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p);
    }
    NORMSCOPE_INLINE void store(T* p, vec v, Tail t) {
        const unsigned mask = (1u << t.count) - 1;
        if constexpr (sizeof(T) == 4)
            _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask), (__m512)v);
        else
            _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), (__m512d)v);
    }
#else
    NORMSCOPE_INLINE vec load(const T* p, Tail t) {
        vec v = {};
        std::memcpy(&v, p, static_cast<std::size_t>(t.count) * sizeof(T));
        return v;
    }
    NORMSCOPE_INLINE void store(T* p, vec v, Tail t) {
        std::memcpy(p, &v, static_cast<std::size_t>(t.count) * sizeof(T));
    }
#endif
    NORMSCOPE_INLINE vec all(T v) {
        return v - vec{};
    }
    NORMSCOPE_INLINE vec keep(vec v, Full, T = 0) {
        return v;
    }
    NORMSCOPE_INLINE vec keep(vec v, Tail t, T beyond = 0) {  // `beyond` after the tail
        return lane(kLanes) < static_cast<word>(t.count) ? v : all(beyond);
    }
    NORMSCOPE_INLINE vec larger(vec a, vec b) {
        return a > b ? a : b;
    }
    NORMSCOPE_INLINE bool owns(int) {
        return true;
    }
    // A fixed tree: halves, quarters, …
    NORMSCOPE_INLINE T sum(vec v) {
        return reduce(v, [](vec a, vec b) { return a + b; });
    }
    NORMSCOPE_INLINE T max(vec v) {
        return reduce(v, larger);
    }
    template <class F>
    NORMSCOPE_INLINE vec map(vec v, F f) {
        for (int i = 0; i < size; ++i) v[i] = f(v[i]);
        return v;
    }
    /// e^x by 2^n·e^r, |r| ≤ ln2/2, Taylor polynomial in r; relative error about one unit in the last place.
    /// Returns 0 below the smallest normal number and saturates (finite) at the upper end; NaN stays NaN.
    NORMSCOPE_INLINE vec exp(vec x) {
        constexpr bool single = sizeof(T) == 4;
        constexpr T low = single ? T(-87.0) : T(-708.0), high = single ? T(88.0) : T(709.0);
        constexpr T log2e = T(1.44269504088896340736);
        constexpr T ln2_high = single ? T(0.693359375) : T(6.93147180369123816490e-01);
        constexpr T ln2_low = single ? T(-2.12194440e-4) : T(1.90821492927058770002e-10);
        constexpr T round = single ? T(12582912.0) : T(6755399441055744.0);  // 1.5·2^23, 1.5·2^52
        const vec lo = all(low), hi = all(high);
        vec c = x < lo ? lo : x;
        c = c > hi ? hi : c;
        const vec n = (c * log2e + round) - round;
        const vec r = (c - n * ln2_high) - n * ln2_low;
        constexpr int degree = single ? 7 : 13;
        vec p = all(T(1) / factorial(degree));
        for (int k = degree - 1; k >= 0; --k) p = p * r + T(1) / factorial(k);
        const ivec e = (__builtin_convertvector(n, ivec) + (single ? 127 : 1023)) << (single ? 23 : 52);
        vec scale;
        std::memcpy(&scale, &e, sizeof scale);
        const vec zero = {};
        return x < lo ? zero : p * scale;
    }
    /// ln x of positive normal numbers, as k·ln 2 + ln m with √½ <= m < √2 and ln m = 2 artanh((m − 1)/(m +
    /// 1)), by its series; a few units in the last place of the larger part. Undefined for other values,
    /// including NaN.
    NORMSCOPE_INLINE vec log(vec x) {
        constexpr bool single = sizeof(T) == 4;
        constexpr int mantissa = single ? 23 : 52;
        constexpr word half_root = single ? word(0x3f3504f3) : word(0x3fe6a09e667f3bcdLL);  // √½
        ivec bits;
        std::memcpy(&bits, &x, sizeof bits);
        const ivec k = (bits - half_root) >> mantissa;
        bits -= k << mantissa;
        vec m;
        std::memcpy(&m, &bits, sizeof m);
        const vec s = (m - 1) / (m + 1), z = s * s;
        constexpr int terms = single ? 5 : 11;  // z < 0.0295
        vec p = all(T(1) / (2 * terms - 1));
        for (int i = terms - 1; i >= 1; --i) p = p * z + T(1) / (2 * i - 1);
        return __builtin_convertvector(k, vec) * T(0.69314718055994530942) + 2 * s * p;
    }

  private:
    static constexpr std::make_integer_sequence<word, size> kLanes{};
    template <word... i>
    NORMSCOPE_INLINE ivec lane(std::integer_sequence<word, i...>) {
        return ivec{i...};
    }
    template <word half, word... i>
    NORMSCOPE_INLINE vec partner(vec v, std::integer_sequence<word, i...>) {
        return __builtin_shufflevector(v, v, (i ^ half)...);
    }
    template <word half = size / 2, class F>
    NORMSCOPE_INLINE T reduce(vec v, F f) {
        v = f(v, partner<half>(v, kLanes));
        if constexpr (half == 1)
            return v[0];
        else
            return reduce<half / 2>(v, f);
    }
#undef NORMSCOPE_INLINE
    static constexpr T factorial(int k) {
        return k <= 1 ? T(1) : T(k) * factorial(k - 1);
    }
};

#endif

}  // namespace normscope
