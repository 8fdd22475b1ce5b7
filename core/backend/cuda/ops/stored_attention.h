// SPDX-License-Identifier: GPL-3.0-or-later
// Included by attention.h: attention between its projections with stored probabilities, as batched GEMMs of
// one head over all sequences, and row kernels.
#pragma once

#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/each.h"
#include "core/backend/row/soft_cap.h"
#include "core/backend/row/softmax.h"

#include <algorithm>

namespace normscope::cuda {

/// Sizes and offsets in the fused [q | k | v] rows.
struct HeadPlaces {
    explicit HeadPlaces(const AttentionShape& s)
        : d(s.d),
          dh(s.head_width),
          d_q(s.d_q()),
          d_kv(s.d_kv()),
          heads(s.heads),
          group(s.heads / s.kv_heads),
          width(s.width()),
          n(s.n) {}
    int d, dh, d_q, d_kv, heads, group, width, n;
    std::size_t q(int h) const { return static_cast<std::size_t>(h) * static_cast<std::size_t>(dh); }
    std::size_t k(int h) const { return static_cast<std::size_t>(d_q + h / group * dh); }
    std::size_t v(int h) const { return static_cast<std::size_t>(d_q + d_kv + h / group * dh); }
    std::size_t map() const { return area(n, n); }
    std::size_t map(int h) const { return static_cast<std::size_t>(h) * map(); }
    /// From one sequence to the next: of qkv rows, of rows of d_q, of maps.
    std::size_t next_qkv() const { return area(n, width); }
    std::size_t next_row() const { return area(n, d_q); }
    std::size_t next_map() const { return static_cast<std::size_t>(heads) * map(); }
};

/// The rows of attention maps, `rows` of each: row i is of token first + i mod rows.
struct MapRows {
    int rows, first, n;
    bool causal;
    int window = 0;  ///< AttentionShape's
    NORMSCOPE_SHARED_CODE int length(int i) const { return causal ? first + i % rows + 1 : n; }
    /// The row of the tape's `maps` maps that row i is of.
    NORMSCOPE_SHARED_CODE std::size_t of_tape(int i, int maps) const {
        return static_cast<std::size_t>(i / rows % maps) * static_cast<std::size_t>(n) +
               static_cast<std::size_t>(first + i % rows);
    }
    NORMSCOPE_SHARED_CODE int begin(int i) const {
        return window > 0 && length(i) > window ? length(i) - window : 0;
    }
};

/// Row i of [count, n] becomes softmax(scale·row), zero after its length and before its window.
template <class T>
NORMSCOPE_KERNEL void softmax_kernel(int count, MapRows map, const T* scale, T* scores) {
    const int i = row_of_warp();
    if (i >= count) return;
    T* s = scores + static_cast<std::size_t>(i) * static_cast<std::size_t>(map.n);
    const int length = map.length(i);
    const int begin = map.begin(i);
    row::softmax<Warp<T>>(s + begin, length - begin, *scale);
    for (int k = Warp<T>::lane(); k < begin; k += 32) s[k] = 0;
    for (int k = length + Warp<T>::lane(); k < map.n; k += 32) s[k] = 0;
}

/// Row i of [count, n] becomes scale·(diag(p) − ppᵀ) times itself, zero after its length. Its p is row
/// first + i mod rows of map i / rows mod maps.
template <class T>
NORMSCOPE_KERNEL void softmax_project_kernel(int count, MapRows map, int maps, const T* scale, const T* p,
                                             T* gradient) {
    const int i = row_of_warp();
    if (i >= count) return;
    const auto n = static_cast<std::size_t>(map.n);
    T* g = gradient + static_cast<std::size_t>(i) * n;
    const std::size_t at = map.of_tape(i, maps);
    const int length = map.length(i);
    row::softmax_project<Warp<T>>(p + at * n, g, length, *scale, g);
    for (int k = length + Warp<T>::lane(); k < map.n; k += 32) g[k] = 0;
}

/// Of a kernel over map rows of n entries, the keys that they have read from `arrays`, the whole row written.
template <class T>
Traffic map_traffic(int rows, int n, bool causal, int arrays) {
    const double entries = static_cast<double>(rows) * n,
                 kept = causal ? entries * (n + 1) / (2.0 * n) : entries;
    return {kept * arrays * sizeof(T), entries * sizeof(T), kept * 6};
}

/// Scores that are not scaled yet, capped in place and kept.
template <class T>
struct CapScores {
    T cap;
    const T* scale;
    T *scores, *capped;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::soft_cap<Serial<T>>(1, cap / *scale, scores + i);
        capped[i] = scores[i];
    }
    Traffic moves() const { return {sizeof(T), 2 * sizeof(T), 5}; }
};

/// The derivative of the cap. Row i of `rows`, n entries each, is of the row of `capped` that
/// softmax_project_kernel() reads; entries that the mask hides are zero there, or never read.
template <class T>
struct ThroughCap {
    T cap;
    const T* scale;
    MapRows map;
    int maps;
    const T* capped;
    T* rows;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t at) const {
        const auto n = static_cast<std::size_t>(map.n);
        const int i = static_cast<int>(at / n), key = static_cast<int>(at % n);
        if (key >= map.length(i)) return;
        const std::size_t row = map.of_tape(i, maps);
        row::soft_cap_derivative<Serial<T>>(1, cap / *scale, capped + row * n + key, rows + at, rows + at);
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 5}; }
};

template <class T>
void CudaLayerOps<T>::through_cap(const AttentionShape& shape, const AttentionWeights<T>& w,
                                  const AttentionTape<T>& tape, int first_row, int map_rows, int count,
                                  int maps, T* rows) {
    if (!tape.capped) return;
    each("attention_soft_cap_vjp", area(count, shape.n),
         ThroughCap<T>{static_cast<T>(shape.soft_cap), w.scale,
                       MapRows{map_rows, first_row, shape.n, shape.causal}, maps, tape.capped, rows});
    round_low(area(count, shape.n), rows);
}

template <class T>
void CudaLayerOps<T>::stored_forward(const AttentionShape& shape, int sequences, const AttentionWeights<T>& w,
                                     const AttentionTape<T>& tape) {
    const HeadPlaces s(shape);
    const int n = s.n;
    for (int h = 0; h < s.heads; ++h)
        gemm_.multiply({Form::Nt,
                        n,
                        n,
                        s.dh,
                        {tape.qkv + s.q(h), s.width, s.next_qkv()},
                        {tape.qkv + s.k(h), s.width, s.next_qkv()},
                        {tape.probabilities + s.map(h), n, s.next_map()},
                        sequences});
    const int rows = sequences * s.heads * n;
    if (tape.capped) {
        each("attention_soft_cap", area(rows, n),
             CapScores<T>{static_cast<T>(shape.soft_cap), w.scale, tape.probabilities, tape.capped});
        round_low(area(rows, n), tape.probabilities);
        round_low(area(rows, n), tape.capped);
    }
    moves([&] { return map_traffic<T>(rows, n, shape.causal, 1); });
    run("softmax", kernel_of<softmax_kernel<T>>, one_warp_each(static_cast<std::size_t>(rows)), rows,
        MapRows{n, 0, n, shape.causal, shape.window}, w.scale, tape.probabilities);
    round_pure(area(rows, n), tape.probabilities);
    for (int h = 0; h < s.heads; ++h)
        gemm_.multiply({Form::Nn,
                        n,
                        s.dh,
                        n,
                        {tape.probabilities + s.map(h), n, s.next_map()},
                        {tape.qkv + s.v(h), s.width, s.next_qkv()},
                        {tape.mixed + s.q(h), s.d_q, s.next_row()},
                        sequences});
}

template <class T>
void CudaLayerOps<T>::stored_vjp(const AttentionShape& shape, int sequences, int directions,
                                 const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* dmixed,
                                 T* dqkv) {
    const HeadPlaces s(shape);
    const int n = s.n, maps = sequences * s.heads;
    T* const ds = work(Work::Scores, static_cast<std::size_t>(maps) * s.map());
    for (int k = 0; k < directions; ++k) {
        const T* dout = dmixed + static_cast<std::size_t>(k * sequences) * s.next_row();
        T* to = dqkv + static_cast<std::size_t>(k * sequences) * s.next_qkv();
        for (int h = 0; h < s.heads; ++h)
            gemm_.multiply({Form::Nt,
                            n,
                            n,
                            s.dh,
                            {dout + s.q(h), s.d_q, s.next_row()},
                            {tape.qkv + s.v(h), s.width, s.next_qkv()},
                            {ds + s.map(h), n, s.next_map()},
                            sequences});
        moves([&] { return map_traffic<T>(maps * n, n, shape.causal, 2); });
        run("softmax_project", kernel_of<softmax_project_kernel<T>>, one_warp_each(area(maps, n)), maps * n,
            MapRows{n, 0, n, shape.causal}, maps, w.scale, tape.probabilities, ds);
        round_pure(static_cast<std::size_t>(maps) * s.map(), ds);
        through_cap(shape, w, tape, 0, n, maps * n, maps, ds);
        for (int h = 0; h < s.heads; ++h) {
            const Operand<const T> scores{ds + s.map(h), n, s.next_map()};
            gemm_.multiply({Form::Nn,
                            n,
                            s.dh,
                            n,
                            scores,
                            {tape.qkv + s.k(h), s.width, s.next_qkv()},
                            {to + s.q(h), s.width, s.next_qkv()},
                            sequences});
            // The heads of a group add up at their key and value.
            const T kept = h % s.group == 0 ? T(0) : T(1);
            gemm_.multiply({Form::Tn,
                            n,
                            s.dh,
                            n,
                            {tape.probabilities + s.map(h), n, s.next_map()},
                            {dout + s.q(h), s.d_q, s.next_row()},
                            {to + s.v(h), s.width, s.next_qkv()},
                            sequences,
                            T(1),
                            kept});
            gemm_.multiply({Form::Tn,
                            n,
                            s.dh,
                            n,
                            scores,
                            {tape.qkv + s.q(h), s.width, s.next_qkv()},
                            {to + s.k(h), s.width, s.next_qkv()},
                            sequences,
                            T(1),
                            kept});
        }
    }
}

template <class T>
void CudaLayerOps<T>::stored_jvp(const AttentionShape& shape, int first_token, int directions,
                                 const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* tqkv,
                                 T* tmixed) {
    const HeadPlaces s(shape);
    const int n = s.n, m = n - first_token;
    // Directions in groups whose maps fit in a buffer of bounded size; the results do not depend on it.
    constexpr std::size_t kMapEntries = std::size_t{1} << 24;
    const std::size_t entries = static_cast<std::size_t>(s.heads) * area(m, n);
    const int group = static_cast<int>(
        std::clamp<std::size_t>(kMapEntries / entries, 1, static_cast<std::size_t>(directions)));
    T* const scores = work(Work::Scores, static_cast<std::size_t>(group) * entries);
    const T* const moved = tape.qkv + area(first_token, s.width);  // the tokens that the directions touch
    for (int k = 0; k < directions; k += group) {
        const int count = std::min(group, directions - k);
        const T* const rows = tqkv + area(k * m, s.width);
        for (int h = 0; h < s.heads; ++h) {
            const Operand<T> map{scores + static_cast<std::size_t>(h) * area(m, n), n, entries};
            // S' = Q'Kᵀ + QK'ᵀ; the keys before first_token do not move.
            gemm_.multiply({Form::Nt,
                            m,
                            n,
                            s.dh,
                            {rows + s.q(h), s.width, area(m, s.width)},
                            {tape.qkv + s.k(h), s.width, 0},
                            map,
                            count});
            gemm_.multiply({Form::Nt,
                            m,
                            m,
                            s.dh,
                            {moved + s.q(h), s.width, 0},
                            {rows + s.k(h), s.width, area(m, s.width)},
                            {map.data + first_token, n, entries},
                            count,
                            T(1),
                            T(1)});
        }
        const int map_rows = count * s.heads * m;
        through_cap(shape, w, tape, first_token, m, map_rows, s.heads, scores);
        moves([&] { return map_traffic<T>(map_rows, n, false, 2); });
        run("softmax_project", kernel_of<softmax_project_kernel<T>>,
            one_warp_each(static_cast<std::size_t>(map_rows)), map_rows,
            MapRows{m, first_token, n, shape.causal}, s.heads, w.scale, tape.probabilities, scores);
        round_pure(area(map_rows, n), scores);
        for (int h = 0; h < s.heads; ++h) {
            const Operand<T> to{tmixed + area(k * m, s.d_q) + s.q(h), s.d_q, area(m, s.d_q)};
            gemm_.multiply({Form::Nn,
                            m,
                            s.dh,
                            n,
                            {scores + static_cast<std::size_t>(h) * area(m, n), n, entries},
                            {tape.qkv + s.v(h), s.width, 0},
                            to,
                            count});
            gemm_.multiply({Form::Nn,
                            m,
                            s.dh,
                            m,
                            {tape.probabilities + s.map(h) + area(first_token, n) +
                                 static_cast<std::size_t>(first_token),
                             n, 0},
                            {rows + s.v(h), s.width, area(m, s.width)},
                            to,
                            count,
                            T(1),
                            T(1)});
        }
    }
}

}  // namespace normscope::cuda
