// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/vector_pair.h"
#include "core/backend/shared/lanes.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace normscope {

#if defined(__AVX512F__)
constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
constexpr int kRegisterBytes = 32;
#else
constexpr int kRegisterBytes = 16;
#endif

/// 64 bytes of T in this file's registers. GCC 12 ignores the size of a vector of a dependent type where that
/// is a template's argument, so each T has its own.
template <class T, int bytes>
struct Registers;
#define NORMSCOPE_REGISTERS(T)                              \
    template <>                                             \
    struct Registers<T, 64> {                               \
        typedef T vec __attribute__((vector_size(64)));     \
    };                                                      \
    template <>                                             \
    struct Registers<T, 32> {                               \
        typedef T half __attribute__((vector_size(32)));    \
        using vec = VectorPair<half>;                       \
    };                                                      \
    template <>                                             \
    struct Registers<T, 16> {                               \
        typedef T quarter __attribute__((vector_size(16))); \
        using vec = VectorPair<VectorPair<quarter>>;        \
    };
NORMSCOPE_REGISTERS(float)
NORMSCOPE_REGISTERS(double)
NORMSCOPE_REGISTERS(std::int32_t)
NORMSCOPE_REGISTERS(std::int64_t)
#undef NORMSCOPE_REGISTERS

/// The lanes policy (lanes.h) of the CPU: 64 bytes on every instruction set, so that reductions run in the
/// same order on every processor. `Isa` is only a tag: it keeps the instantiations of files compiled for
/// different processors apart.
template <class T, class Isa>
struct Simd {
    using scalar = T;
    using vec = typename Registers<T, kRegisterBytes>::vec;
    using word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    using ivec = typename Registers<word, kRegisterBytes>::vec;
    static constexpr int size = 64 / sizeof(T);

#define NORMSCOPE_INLINE static inline __attribute__((always_inline))
    NORMSCOPE_INLINE vec load(const T* p, Full) {
        return load_vector<vec>(p);
    }
    NORMSCOPE_INLINE void store(T* p, const vec& v, Full) {
        store_vector(p, v);
    }
#if defined(__AVX512F__)
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
#elif defined(__AVX2__)
    NORMSCOPE_INLINE vec load(const T* p, Tail t) {
        const ivec mask = inside(t);
        return {load_half(p, mask.low), load_half(p + size / 2, mask.high)};
    }
    NORMSCOPE_INLINE void store(T* p, const vec& v, Tail t) {
        // A masked store is expensive: only the half in which the row ends has one.
        const int beyond = t.count - size / 2;
        if (beyond < 0) return store_half(p, v.low, inside(t).low);
        store_vector(p, v.low);
        if (beyond > 0) store_half(p + size / 2, v.high, inside(t).high);
    }
#else
    NORMSCOPE_INLINE vec load(const T* p, Tail t) {
        T entries[size] = {};
        std::memcpy(entries, p, static_cast<std::size_t>(t.count) * sizeof(T));
        return load_vector<vec>(entries);
    }
    NORMSCOPE_INLINE void store(T* p, const vec& v, Tail t) {
        T entries[size];
        store_vector(entries, v);
        std::memcpy(p, entries, static_cast<std::size_t>(t.count) * sizeof(T));
    }
#endif
    NORMSCOPE_INLINE vec all(T v) {
        return v - vec{};
    }
    NORMSCOPE_INLINE vec keep(const vec& v, Full, T = 0) {
        return v;
    }
    NORMSCOPE_INLINE vec keep(const vec& v, Tail t, T beyond = 0) {  // `beyond` after the tail
        return select(inside(t), v, all(beyond));
    }
    NORMSCOPE_INLINE vec larger(const vec& a, const vec& b) {
        return select(a > b, a, b);
    }
    NORMSCOPE_INLINE vec product(const vec& a, const vec& b) {
        return computed(a * b);
    }
    NORMSCOPE_INLINE bool owns(int) {
        return true;
    }
    NORMSCOPE_INLINE T sum(const vec& v) {
        return reduce_vector(v, [](auto a, auto b) { return a + b; });
    }
    NORMSCOPE_INLINE T max(const vec& v) {
        return reduce_vector(v, [](auto a, auto b) { return select(a > b, a, b); });
    }
    template <class F>
    NORMSCOPE_INLINE vec map(const vec& v, F f) {
        return map_vector(v, f);
    }
    /// e^x by 2^n·e^r, |r| ≤ ln2/2, Taylor polynomial in r; relative error about one unit in the last place.
    /// Returns 0 below the smallest normal number and saturates (finite) at the upper end; NaN stays NaN.
    NORMSCOPE_INLINE vec exp(const vec& x) {
        constexpr bool single = sizeof(T) == 4;
        constexpr T low = single ? T(-87.0) : T(-708.0), high = single ? T(88.0) : T(709.0);
        constexpr T log2e = T(1.44269504088896340736);
        constexpr T ln2_high = single ? T(0.693359375) : T(6.93147180369123816490e-01);
        constexpr T ln2_low = single ? T(-2.12194440e-4) : T(1.90821492927058770002e-10);
        constexpr T round = single ? T(12582912.0) : T(6755399441055744.0);  // 1.5·2^23, 1.5·2^52
        const vec lo = all(low), hi = all(high);
        vec c = select(x < lo, lo, x);
        c = select(c > hi, hi, c);
        const vec n = (c * log2e + round) - round;
        const vec r = (c - n * ln2_high) - n * ln2_low;
        constexpr int degree = single ? 7 : 13;
        vec p = all(T(1) / factorial(degree));
        for (int k = degree - 1; k >= 0; --k) p = p * r + T(1) / factorial(k);
        const ivec e = (convert_vector<ivec>(n) + (single ? 127 : 1023)) << (single ? 23 : 52);
        const vec zero = {};
        return select(x < lo, zero, p * vector_bits<vec>(e));
    }
    /// ln x of positive normal numbers, as k·ln 2 + ln m with √½ <= m < √2 and ln m = 2 artanh((m − 1)/(m +
    /// 1)), by its series; a few units in the last place of the larger part. Undefined for other values,
    /// including NaN.
    NORMSCOPE_INLINE vec log(const vec& x) {
        constexpr bool single = sizeof(T) == 4;
        constexpr int mantissa = single ? 23 : 52;
        constexpr word half_root = single ? word(0x3f3504f3) : word(0x3fe6a09e667f3bcdLL);  // √½
        ivec bits = vector_bits<ivec>(x);
        const ivec k = (bits - half_root) >> mantissa;
        bits -= k << mantissa;
        const vec m = vector_bits<vec>(bits);
        const T one = 1, two = 2;
        const vec s = (m - one) / (m + one), z = s * s;
        constexpr int terms = single ? 5 : 11;  // z < 0.0295
        vec p = all(T(1) / (2 * terms - 1));
        for (int i = terms - 1; i >= 1; --i) p = p * z + T(1) / (2 * i - 1);
        return convert_vector<vec>(k) * T(0.69314718055994530942) + product(two * s, p);
    }

  private:
    NORMSCOPE_INLINE auto inside(Tail t) {
        return counting<ivec, word>() < static_cast<word>(t.count);
    }
#if defined(__AVX2__) && !defined(__AVX512F__)
    using half = decltype(vec::low);
    using half_mask = decltype(ivec::low);
    NORMSCOPE_INLINE half load_half(const T* p, const half_mask& mask) {
        if constexpr (sizeof(T) == 4)
            return (half)_mm256_maskload_ps(p, (__m256i)mask);
        else
            return (half)_mm256_maskload_pd(p, (__m256i)mask);
    }
    NORMSCOPE_INLINE void store_half(T* p, const half& v, const half_mask& mask) {
        if constexpr (sizeof(T) == 4)
            _mm256_maskstore_ps(p, (__m256i)mask, (__m256)v);
        else
            _mm256_maskstore_pd(p, (__m256i)mask, (__m256d)v);
    }
#endif
#undef NORMSCOPE_INLINE
    static constexpr T factorial(int k) {
        return k <= 1 ? T(1) : T(k) * factorial(k - 1);
    }
};

}  // namespace normscope
