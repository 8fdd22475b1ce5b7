// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

namespace normscope {

// A vector of 64 bytes as the registers that hold it. GCC keeps a vector that is wider than a register in
// memory and loads and stores it at each operation; of a pair of vectors, or a pair of pairs, each half has a
// register of its own.

/// Twice the entries of V, a GCC vector or such a pair, with the operators of a GCC vector but for `?:`
/// (select()).
template <class V>
struct VectorPair {
    V low, high;
};

template <class V>
inline constexpr bool is_pair = false;
template <class V>
inline constexpr bool is_pair<VectorPair<V>> = true;

#define NORMSCOPE_INLINE inline __attribute__((always_inline))
#define NORMSCOPE_PAIR_OPERATOR(op)                                                                   \
    template <class V>                                                                                \
    NORMSCOPE_INLINE auto operator op(const VectorPair<V>& a, const VectorPair<V>& b) {               \
        return VectorPair<decltype(a.low op b.low)>{a.low op b.low, a.high op b.high};                \
    }                                                                                                 \
    template <class V, class S>                                                                       \
    requires std::is_arithmetic_v<S> NORMSCOPE_INLINE auto operator op(const VectorPair<V>& a, S b) { \
        return VectorPair<decltype(a.low op b)>{a.low op b, a.high op b};                             \
    }                                                                                                 \
    template <class V, class S>                                                                       \
    requires std::is_arithmetic_v<S> NORMSCOPE_INLINE auto operator op(S a, const VectorPair<V>& b) { \
        return VectorPair<decltype(a op b.low)>{a op b.low, a op b.high};                             \
    }
NORMSCOPE_PAIR_OPERATOR(+)
NORMSCOPE_PAIR_OPERATOR(-)
NORMSCOPE_PAIR_OPERATOR(*)
NORMSCOPE_PAIR_OPERATOR(/)
NORMSCOPE_PAIR_OPERATOR(<)
NORMSCOPE_PAIR_OPERATOR(>)
NORMSCOPE_PAIR_OPERATOR(<<)
NORMSCOPE_PAIR_OPERATOR(>>)
#undef NORMSCOPE_PAIR_OPERATOR

template <class V>
NORMSCOPE_INLINE VectorPair<V> operator-(const VectorPair<V>& a) {
    return {-a.low, -a.high};
}
template <class V, class B>
NORMSCOPE_INLINE VectorPair<V>& operator+=(VectorPair<V>& a, const B& b) {
    return a = a + b;
}
template <class V, class B>
NORMSCOPE_INLINE VectorPair<V>& operator-=(VectorPair<V>& a, const B& b) {
    return a = a - b;
}

/// The bytes from p on, by one access a register; sizeof(V) of them.
template <class V>
NORMSCOPE_INLINE V load_vector(const void* p) {
    if constexpr (is_pair<V>) {
        using Half = decltype(V::low);
        return {load_vector<Half>(p), load_vector<Half>(static_cast<const char*>(p) + sizeof(Half))};
    } else {
        V v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
}
template <class V>
NORMSCOPE_INLINE void store_vector(void* p, const V& v) {
    if constexpr (is_pair<V>) {
        store_vector(p, v.low);
        store_vector(static_cast<char*>(p) + sizeof v.low, v.high);
    } else {
        std::memcpy(p, &v, sizeof v);
    }
}

/// condition ? a : b, entry by entry.
template <class C, class V>
NORMSCOPE_INLINE V select(const C& condition, const V& a, const V& b) {
    if constexpr (is_pair<V>)
        return {select(condition.low, a.low, b.low), select(condition.high, a.high, b.high)};
    else
        return condition ? a : b;
}

/// The entries converted to those of To.
template <class To, class V>
NORMSCOPE_INLINE To convert_vector(const V& v) {
    if constexpr (is_pair<V>)
        return {convert_vector<decltype(To::low)>(v.low), convert_vector<decltype(To::high)>(v.high)};
    else
        return __builtin_convertvector(v, To);
}
/// The same bits as a To.
template <class To, class V>
NORMSCOPE_INLINE To vector_bits(const V& v) {
    if constexpr (is_pair<V>)
        return {vector_bits<decltype(To::low)>(v.low), vector_bits<decltype(To::high)>(v.high)};
    else
        return (To)v;
}

/// v, of which the compiler does not know how it was computed.
template <class V>
NORMSCOPE_INLINE V computed(V v) {
    if constexpr (is_pair<V>) {
        return {computed(v.low), computed(v.high)};
    } else {
        asm("" : "+v"(v));
        return v;
    }
}

/// f of each entry.
template <class V, class F>
NORMSCOPE_INLINE V map_vector(V v, F f) {
    if constexpr (is_pair<V>) {
        return {map_vector(v.low, f), map_vector(v.high, f)};
    } else {
        constexpr int size = sizeof(V) / sizeof(v[0]);
        for (int i = 0; i < size; ++i) v[i] = f(v[i]);
        return v;
    }
}

/// 0, 1, 2, … from `first` on.
template <class V, class T>
NORMSCOPE_INLINE V counting(T first = 0) {
    if constexpr (is_pair<V>) {
        using Half = decltype(V::low);
        constexpr T half = sizeof(Half) / sizeof(T);
        return {counting<Half>(first), counting<Half>(static_cast<T>(first + half))};
    } else {
        return [&]<T... i>(std::integer_sequence<T, i...>) {
            return V{static_cast<T>(first + i)...};
        }
        (std::make_integer_sequence<T, sizeof(V) / sizeof(T)>{});
    }
}

template <int distance, class V, class T, T... i>
NORMSCOPE_INLINE V partners(const V& v, std::integer_sequence<T, i...>) {
    return __builtin_shufflevector(v, v, (i ^ distance)...);
}
/// f over all entries by a fixed tree, the same for a vector and for its halves: entry i with entry i +
/// size/2, of the results i with i + size/4, ….
template <int distance = 0, class V, class F>
NORMSCOPE_INLINE auto reduce_vector(const V& v, F f) {
    if constexpr (is_pair<V>) {
        return reduce_vector(f(v.low, v.high), f);
    } else if constexpr (distance == 0) {
        return reduce_vector<sizeof(V) / sizeof(v[0]) / 2>(v, f);
    } else {
        constexpr int size = sizeof(V) / sizeof(v[0]);
        const V sums = f(v, partners<distance>(v, std::make_integer_sequence<int, size>{}));
        if constexpr (distance == 1)
            return sums[0];
        else
            return reduce_vector<distance / 2>(sums, f);
    }
}
#undef NORMSCOPE_INLINE

}  // namespace normscope
