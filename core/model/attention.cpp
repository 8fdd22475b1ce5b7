// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace normscope {

namespace {

/// Sizes and places inside the fused [q | k | v] rows.
template <class T>
struct Shape {
    explicit Shape(const Pass<T>& pass, int length)
        : d(pass.spec.d_model),
          dh(pass.spec.d_head()),
          d_kv(pass.spec.d_kv()),
          heads(pass.spec.heads),
          kv_heads(pass.spec.kv_heads),
          group(pass.spec.heads / pass.spec.kv_heads),
          width(pass.spec.d_model + 2 * pass.spec.d_kv()),
          n(length),
          scale(static_cast<T>(
              1.0 / (pass.numerics.temperature * std::sqrt(static_cast<double>(pass.spec.d_head()))))) {}
    int d, dh, d_kv, heads, kv_heads, group, width, n;
    T scale;
    std::size_t q(int h) const { return static_cast<std::size_t>(h) * dh; }
    // Each group of neighbouring heads reads one key and value head.
    std::size_t k(int h) const { return static_cast<std::size_t>(d + h / group * dh); }
    std::size_t v(int h) const { return static_cast<std::size_t>(d + d_kv + h / group * dh); }
    std::size_t area() const { return static_cast<std::size_t>(n) * d; }
    /// A head's part of the keys or values that transpose() turned: [d_head, n] of [d_kv, n].
    std::size_t turned(int h) const { return static_cast<std::size_t>(h / group) * dh * n; }
    bool first_of_group(int h) const { return h % group == 0; }
    std::size_t rows(int sequence) const { return static_cast<std::size_t>(sequence) * n; }
    std::size_t map(int sequence, int h) const {
        return (static_cast<std::size_t>(sequence) * heads + h) * static_cast<std::size_t>(n) * n;
    }
};

/// Maps of a causal stack are worked on in blocks of rows, so that the products skip most of the masked half.
/// Calls body(first, end) for rows first … end − 1 of m; without causality all are one block.
template <class Body>
void for_row_blocks(bool causal, int m, Body&& body) {
    constexpr int kBlock = 32;  // smaller ones lose in the products what they skip
    const int length = causal ? kBlock : m;
    for (int first = 0; first < m; first += length) body(first, std::min(m, first + length));
}

/// The norm on q or on k: `pieces` neighbouring pieces of `width` entries in each row, with the weight they
/// share.
template <class T>
struct ProjectionNorm {
    std::size_t column;
    int pieces, width;
    std::size_t weight;
    NormStatistics<T> statistics;
};

template <class T>
std::array<ProjectionNorm<T>, 2> projection_norms(const Pass<T>& pass, const AttentionOffsets& at,
                                                  const SublayerTape<T>& tape) {
    const StackSpec& s = pass.spec;
    const auto k = static_cast<std::size_t>(s.d_model);
    if (s.qk_norm == QkNorm::Head)
        return {{{0, s.heads, s.d_head(), at.q_norm, tape.q_norm},
                 {k, s.kv_heads, s.d_head(), at.k_norm, tape.k_norm}}};
    return {{{0, 1, s.d_model, at.q_norm, tape.q_norm}, {k, 1, s.d_kv(), at.k_norm, tape.k_norm}}};
}

/// From the projections of one sequence to what the scores read: q and k are normalised, then rotated, in
/// place.
template <class T>
void prepare_qk(const Pass<T>& pass, const AttentionOffsets& at, const Shape<T>& s, int sequence,
                const SublayerTape<T>& tape) {
    T* qkv = tape.qkv + s.rows(sequence) * s.width;
    if (tape.qk) {
        const auto both = static_cast<std::size_t>(s.d + s.d_kv);
        for (std::size_t r = s.rows(sequence); r < s.rows(sequence + 1); ++r) {
            T* row = tape.qkv + r * s.width;
            T* projected = tape.qk + r * both;
            std::copy(row, row + both, projected);
            for (const auto& norm : projection_norms(pass, at, tape))
                pass.kernels.norm_forward(pass.spec.norm.kind, norm.pieces, norm.width,
                                          projected + norm.column, pass.eps(), pass.at(norm.weight), nullptr,
                                          1, norm.statistics.from(r * norm.pieces), row + norm.column);
        }
    }
    if (pass.angles) pass.kernels.rope(s.n, s.heads + s.kv_heads, s.dh, s.width, pass.angles, false, qkv);
}

/// The transpose of its derivative, in place on the gradient of one sequence's [q | k | v] rows.
template <class T>
void prepare_qk_backward(const Pass<T>& pass, const AttentionOffsets& at, const Shape<T>& s, int sequence,
                         const SublayerTape<T>& tape, T* gradient, T* gradients) {
    if (pass.angles) pass.kernels.rope(s.n, s.heads + s.kv_heads, s.dh, s.width, pass.angles, true, gradient);
    if (!tape.qk) return;
    for (std::size_t r = s.rows(sequence); r < s.rows(sequence + 1); ++r, gradient += s.width)
        for (const auto& norm : projection_norms(pass, at, tape)) {
            T* at_norm = gradient + norm.column;
            pass.kernels.norm_backward(pass.spec.norm.kind, norm.pieces, norm.width,
                                       tape.qk + r * (s.d + s.d_kv) + norm.column,
                                       norm.statistics.from(r * norm.pieces), pass.at(norm.weight), at_norm,
                                       1, false, at_norm, gradient_at(gradients, norm.weight), nullptr);
        }
}

/// Its derivative, in place on one direction's [q | k | v] rows at the tokens first_token … n − 1.
template <class T>
void prepare_qk_tangent(const Pass<T>& pass, const AttentionOffsets& at, const Shape<T>& s, int sequence,
                        int first_token, const SublayerTape<T>& tape, T* tangent) {
    if (tape.qk)
        for (int t = first_token; t < s.n; ++t) {
            const std::size_t r = s.rows(sequence) + t;
            T* row = tangent + static_cast<std::size_t>(t - first_token) * s.width;
            for (const auto& norm : projection_norms(pass, at, tape)) {
                T* at_norm = row + norm.column;
                pass.kernels.norm_tangent(
                    pass.spec.norm.kind, norm.pieces, norm.width, tape.qk + r * (s.d + s.d_kv) + norm.column,
                    norm.statistics.from(r * norm.pieces), pass.at(norm.weight), at_norm, 1, at_norm);
            }
        }
    if (pass.angles)
        pass.kernels.rope(s.n - first_token, s.heads + s.kv_heads, s.dh, s.width,
                          pass.angles + static_cast<std::size_t>(first_token) * s.dh, false, tangent);
}

/// attention_tangent's maps where only the last token moves: each direction is one row, so that the products
/// run over all directions at once. tqkv: [R, width] -> mixed [R, d]; scores: [R, n] to work in.
template <class T>
void last_token_tangent(const Pass<T>& pass, const Shape<T>& s, int sequence, const SublayerTape<T>& tape,
                        int R, const T* tqkv, T* scores, T* mixed) {
    const int n = s.n;
    const T* rows = tape.qkv + s.rows(sequence) * s.width;
    const T* last = rows + static_cast<std::size_t>(n - 1) * s.width;
    for (int h = 0; h < s.heads; ++h) {
        const T* p = tape.probabilities + s.map(sequence, h) + static_cast<std::size_t>(n - 1) * n;
        // S' = Q'Kᵀ, and q·k' in the last column.
        pass.nt(R, n, s.dh, 1, tqkv + s.q(h), s.width, rows + s.k(h), s.width, 0, scores, n);
        pass.nt(R, 1, s.dh, 1, tqkv + s.k(h), s.width, last + s.q(h), s.width, 1, scores + n - 1, n);
        for (int r = 0; r < R; ++r) {
            T* row = scores + static_cast<std::size_t>(r) * n;
            pass.kernels.softmax_project(1, n, n, p, row, s.scale, row);
        }
        pass.nn(R, s.dh, n, 1, scores, n, rows + s.v(h), s.width, 0, mixed + s.q(h), s.d);
        for (int r = 0; r < R; ++r) {
            T* out = mixed + static_cast<std::size_t>(r) * s.d + s.q(h);
            const T* tv = tqkv + static_cast<std::size_t>(r) * s.width + s.v(h);
            pass.kernels.combine(static_cast<std::size_t>(s.dh), 1, out, p[n - 1], tv, out);
        }
    }
}

}  // namespace

template <class T>
void attention_forward(const Pass<T>& pass, const AttentionOffsets& at, Shard shard, int n, const T* u,
                       const SublayerTape<T>& tape, AttentionScratch<T>& scratch) {
    const Shape<T> s(pass, n);
    scratch.turned.resize(static_cast<std::size_t>(n) * s.d_kv);
    T* keys_turned = scratch.turned.data();
    // One sequence after another, so that what one product leaves the next finds in the cache.
    for (int b = shard.first_sequence; b < shard.first_sequence + shard.sequences; ++b, u += s.area()) {
        T* rows = tape.qkv + s.rows(b) * s.width;
        pass.linear(n, s.width, s.d, u, at.wqkv, at.bqkv, rows);
        prepare_qk(pass, at, s, b, tape);
        transpose(n, s.d_kv, rows + s.k(0), s.width, keys_turned);
        for (int h = 0; h < s.heads; ++h) {
            T* p = tape.probabilities + s.map(b, h);
            T* mixed = tape.mixed + s.rows(b) * s.d + s.q(h);
            for_row_blocks(pass.spec.causal, n, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row);
                T* block = p + row * n;
                const int count = end - first_row, keys = pass.spec.causal ? end : n;
                pass.nn(count, keys, s.dh, 1, rows + row * s.width + s.q(h), s.width,
                        keys_turned + s.turned(h), n, 0, block, n);
                pass.kernels.softmax(count, n, first_row, pass.spec.causal, s.scale, block);
                pass.nn(count, s.dh, keys, 1, block, n, rows + s.v(h), s.width, 0, mixed + row * s.d, s.d);
            });
        }
        pass.linear(n, s.d, s.d, tape.mixed + s.rows(b) * s.d, at.wo, at.bo, tape.f + s.rows(b) * s.d);
    }
}

template <class T>
void attention_backward(const Pass<T>& pass, const AttentionOffsets& at, Shard shard, int n, const T* u,
                        const SublayerTape<T>& tape, const T* df, T* du, T* gradients,
                        AttentionScratch<T>& scratch) {
    const Shape<T> s(pass, n);
    const int R = shard.directions * shard.sequences * n;
    const std::size_t first = s.rows(shard.first_sequence);
    scratch.mixed.resize(s.area());
    scratch.qkv.resize(static_cast<std::size_t>(R) * s.width);
    scratch.scores.resize(static_cast<std::size_t>(n) * n);
    scratch.turned.resize(static_cast<std::size_t>(n) * s.d_kv);
    T* values_turned = scratch.turned.data();
    T* dmixed = scratch.mixed.data();
    T* dqkv = scratch.qkv.data();
    T* ds = scratch.scores.data();

    if (gradients) {
        pass.weight_gradient(s.d, s.d, R, df, s.d, tape.mixed + first * s.d, s.d, gradients + at.wo);
        if (T* bias = gradient_at(gradients, at.bo)) pass.kernels.column_sums(R, s.d, df, bias);
    }
    for (int i = 0; i < shard.directions * shard.sequences; ++i) {
        const int sequence = shard.first_sequence + i % shard.sequences;
        const T* rows = tape.qkv + s.rows(sequence) * s.width;
        T* drows = dqkv + s.rows(i) * s.width;
        pass.nn(n, s.d, s.d, 1, df + i * s.area(), s.d, pass.at(at.wo), s.d, 0, dmixed, s.d);
        transpose(n, s.d_kv, rows + s.v(0), s.width, values_turned);
        for (int h = 0; h < s.heads; ++h) {
            const T* p = tape.probabilities + s.map(sequence, h);
            const T* dout = dmixed + s.q(h);
            const T kept = s.first_of_group(h) ? T(0) : T(1);
            for_row_blocks(pass.spec.causal, n, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row), at_row = row * n;
                const int count = end - first_row, keys = pass.spec.causal ? end : n;
                pass.nn(count, keys, s.dh, 1, dout + row * s.d, s.d, values_turned + s.turned(h), n, 0,
                        ds + at_row, n);
                pass.kernels.softmax_project(count, keys, n, p + at_row, ds + at_row, s.scale, ds + at_row);
                pass.nn(count, s.dh, keys, 1, ds + at_row, n, rows + s.k(h), s.width, 0,
                        drows + row * s.width + s.q(h), s.width);
            });
            for_row_blocks(pass.spec.causal, n, [&](int first_key, int end) {
                // Under causality only the queries from first_key on read these keys.
                const std::size_t key = static_cast<std::size_t>(first_key),
                                  from = pass.spec.causal ? key : 0;
                const int count = end - first_key, queries = n - static_cast<int>(from);
                const std::size_t at_key = from * n + key;
                T* to = drows + key * s.width;
                pass.tn(count, s.dh, queries, 1, p + at_key, n, dout + from * s.d, s.d, kept, to + s.v(h),
                        s.width);
                pass.tn(count, s.dh, queries, 1, ds + at_key, n, rows + from * s.width + s.q(h), s.width,
                        kept, to + s.k(h), s.width);
            });
        }
        prepare_qk_backward(pass, at, s, sequence, tape, drows, gradients);
        pass.nn(n, s.d, s.width, 1, drows, s.width, pass.at(at.wqkv), s.d, 0, du + i * s.area(), s.d);
    }
    if (gradients) {
        pass.weight_gradient(s.width, s.d, R, dqkv, s.width, u, s.d, gradients + at.wqkv);
        if (T* bias = gradient_at(gradients, at.bqkv)) pass.kernels.column_sums(R, s.width, dqkv, bias);
    }
}

template <class T>
void attention_tangent(const Pass<T>& pass, const AttentionOffsets& at, int sequence, int n, int first_token,
                       int directions, const SublayerTape<T>& tape, const T* tu, T* tf,
                       AttentionScratch<T>& scratch) {
    const Shape<T> s(pass, n);
    const int m = n - first_token, R = directions * m;
    scratch.mixed.resize(static_cast<std::size_t>(R) * s.d);
    scratch.qkv.resize(static_cast<std::size_t>(R) * s.width);
    scratch.scores.resize(static_cast<std::size_t>(m == 1 ? R : m) * n);
    T* tqkv = scratch.qkv.data();
    T* tscores = scratch.scores.data();
    pass.linear(R, s.width, s.d, tu, at.wqkv, kAbsent, tqkv);
    if (m == 1) {
        for (int k = 0; k < directions; ++k)
            prepare_qk_tangent(pass, at, s, sequence, first_token, tape,
                               tqkv + static_cast<std::size_t>(k) * s.width);
        last_token_tangent(pass, s, sequence, tape, R, tqkv, tscores, scratch.mixed.data());
        pass.linear(R, s.d, s.d, scratch.mixed.data(), at.wo, kAbsent, tf);
        return;
    }

    const T* rows = tape.qkv + s.rows(sequence) * s.width;
    const T* moved =
        rows + static_cast<std::size_t>(first_token) * s.width;  // the tokens that the directions touch
    for (int k = 0; k < directions; ++k) {
        T* trows = tqkv + static_cast<std::size_t>(k) * m * s.width;
        prepare_qk_tangent(pass, at, s, sequence, first_token, tape, trows);
        for (int h = 0; h < s.heads; ++h) {
            const T* p = tape.probabilities + s.map(sequence, h) + static_cast<std::size_t>(first_token) * n;
            T* tout = scratch.mixed.data() + static_cast<std::size_t>(k) * m * s.d + s.q(h);
            for_row_blocks(pass.spec.causal, m, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row), at_row = row * n;
                const int count = end - first_row, moved_keys = pass.spec.causal ? end : m,
                          keys = first_token + moved_keys;
                T* to = tout + row * s.d;
                // S' = Q'Kᵀ + QK'ᵀ; the keys before first_token do not move.
                pass.nt(count, keys, s.dh, 1, trows + row * s.width + s.q(h), s.width, rows + s.k(h), s.width,
                        0, tscores + at_row, n);
                pass.nt(count, moved_keys, s.dh, 1, moved + row * s.width + s.q(h), s.width, trows + s.k(h),
                        s.width, 1, tscores + at_row + first_token, n);
                pass.kernels.softmax_project(count, keys, n, p + at_row, tscores + at_row, s.scale,
                                             tscores + at_row);
                pass.nn(count, s.dh, keys, 1, tscores + at_row, n, rows + s.v(h), s.width, 0, to, s.d);
                pass.nn(count, s.dh, moved_keys, 1, p + at_row + first_token, n, trows + s.v(h), s.width, 1,
                        to, s.d);
            });
        }
    }
    pass.linear(R, s.d, s.d, scratch.mixed.data(), at.wo, kAbsent, tf);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                         \
    template void attention_forward<T>(const Pass<T>&, const AttentionOffsets&, Shard, int, const T*,    \
                                       const SublayerTape<T>&, AttentionScratch<T>&);                    \
    template void attention_backward<T>(const Pass<T>&, const AttentionOffsets&, Shard, int, const T*,   \
                                        const SublayerTape<T>&, const T*, T*, T*, AttentionScratch<T>&); \
    template void attention_tangent<T>(const Pass<T>&, const AttentionOffsets&, int, int, int, int,      \
                                       const SublayerTape<T>&, const T*, T*, AttentionScratch<T>&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
