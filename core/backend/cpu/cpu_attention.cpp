// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_attention.h"

#include <algorithm>
#include <array>
#include <vector>

namespace normscope {

namespace {

/// Sizes and offsets in the fused [q | k | v] rows.
template <class T>
struct Places {
    Places(const AttentionShape& shape, const T* score_scale)
        : d(shape.d),
          dh(shape.head_width),
          d_q(shape.d_q()),
          d_kv(shape.d_kv()),
          heads(shape.heads),
          kv_heads(shape.kv_heads),
          group(shape.heads / shape.kv_heads),
          width(shape.width()),
          n(shape.n),
          window(shape.window),
          scale(*score_scale),
          cap(static_cast<T>(shape.soft_cap) / *score_scale) {}
    int d, dh, d_q, d_kv, heads, kv_heads, group, width, n, window;
    T scale, cap;  ///< of scores, before they are scaled
    std::size_t q(int h) const { return static_cast<std::size_t>(h) * dh; }
    // Each group of neighbouring heads reads one key and value head.
    std::size_t k(int h) const { return static_cast<std::size_t>(d_q + h / group * dh); }
    std::size_t v(int h) const { return static_cast<std::size_t>(d_q + d_kv + h / group * dh); }
    std::size_t area() const { return static_cast<std::size_t>(n) * d; }
    /// A head's part of transposed keys or values: [d_head, n] of [d_kv, n].
    std::size_t transposed(int h) const { return static_cast<std::size_t>(h / group) * dh * n; }
    bool first_of_group(int h) const { return h % group == 0; }
    std::size_t rows(int sequence) const { return static_cast<std::size_t>(sequence) * n; }
    std::size_t map(int sequence, int h) const {
        return (static_cast<std::size_t>(sequence) * heads + h) * static_cast<std::size_t>(n) * n;
    }
};

/// Memory of one thread; grown on first use, then reused.
template <class T>
struct Scratch {
    std::vector<T> mixed, qkv, scores, transposed;
    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

/// Maps of a causal stack are processed in blocks of rows, so that GEMM skips most of the masked half.
/// Calls body(first, end) for rows first … end − 1 of m; without causality all are one block.
template <class Body>
void for_row_blocks(bool causal, int m, Body&& body) {
    constexpr int kBlock = 32;  // smaller ones lose in GEMM what they skip
    const int length = causal ? kBlock : m;
    for (int first = 0; first < m; first += length) body(first, std::min(m, first + length));
}

/// The norm on q or on k: `pieces` neighbouring pieces of `width` entries in each row, with the weight they
/// share.
template <class T>
struct ProjectionNorm {
    std::size_t column;
    int pieces, width;
    const T* weight;
    NormStatistics<T> statistics;
    T* gradient;
};

template <class T>
std::array<ProjectionNorm<T>, 2> projection_norms(const AttentionShape& s, const AttentionWeights<T>& w,
                                                  const AttentionTape<T>& tape,
                                                  const AttentionGradients<T>* gradients = nullptr) {
    T* const dq = gradients ? gradients->q_norm : nullptr;
    T* const dk = gradients ? gradients->k_norm : nullptr;
    const auto k = static_cast<std::size_t>(s.d_q());
    if (s.qk_norm == QkNorm::Head)
        return {{{0, s.heads, s.head_width, w.q_norm, tape.q_norm, dq},
                 {k, s.kv_heads, s.head_width, w.k_norm, tape.k_norm, dk}}};
    return {{{0, 1, s.d_q(), w.q_norm, tape.q_norm, dq}, {k, 1, s.d_kv(), w.k_norm, tape.k_norm, dk}}};
}

/// From the projections of one sequence to the inputs of the scores: q and k are normalised, then rotated, in
/// place.
template <class T>
void prepare_qk(const RowKernels<T>& kernels, const AttentionShape& shape, const Places<T>& s,
                const AttentionWeights<T>& w, int sequence, const AttentionTape<T>& tape) {
    T* qkv = tape.qkv + s.rows(sequence) * s.width;
    if (tape.qk) {
        const auto both = static_cast<std::size_t>(s.d_q + s.d_kv);
        for (std::size_t r = s.rows(sequence); r < s.rows(sequence + 1); ++r) {
            T* row = tape.qkv + r * s.width;
            T* projected = tape.qk + r * both;
            std::copy(row, row + both, projected);
            for (const auto& norm : projection_norms(shape, w, tape))
                kernels.norm_forward(shape.norm, norm.pieces, norm.width, projected + norm.column, *w.eps,
                                     norm.weight, nullptr, 1, norm.statistics.from(r * norm.pieces),
                                     row + norm.column);
        }
    }
    if (w.angles) kernels.rope(s.n, s.heads + s.kv_heads, s.dh, s.width, w.angles, false, qkv);
}

/// The transpose of its derivative, in place on the gradient of one sequence's [q | k | v] rows.
template <class T>
void prepare_qk_vjp(const RowKernels<T>& kernels, const AttentionShape& shape, const Places<T>& s,
                    const AttentionWeights<T>& w, int sequence, const AttentionTape<T>& tape, T* gradient,
                    const AttentionGradients<T>* gradients) {
    if (w.angles) kernels.rope(s.n, s.heads + s.kv_heads, s.dh, s.width, w.angles, true, gradient);
    if (!tape.qk) return;
    for (std::size_t r = s.rows(sequence); r < s.rows(sequence + 1); ++r, gradient += s.width)
        for (const auto& norm : projection_norms(shape, w, tape, gradients)) {
            T* at_norm = gradient + norm.column;
            kernels.norm_backward(shape.norm, norm.pieces, norm.width,
                                  tape.qk + r * (s.d_q + s.d_kv) + norm.column,
                                  norm.statistics.from(r * norm.pieces), norm.weight, at_norm, 1, false,
                                  at_norm, norm.gradient, nullptr);
        }
}

/// Its derivative, in place on one direction's [q | k | v] rows at the tokens first_token … n − 1.
template <class T>
void prepare_qk_jvp(const RowKernels<T>& kernels, const AttentionShape& shape, const Places<T>& s,
                    const AttentionWeights<T>& w, int first_token, const AttentionTape<T>& tape, T* tangent) {
    if (tape.qk)
        for (int t = first_token; t < s.n; ++t) {
            const std::size_t r = t;
            T* row = tangent + static_cast<std::size_t>(t - first_token) * s.width;
            for (const auto& norm : projection_norms(shape, w, tape)) {
                T* at_norm = row + norm.column;
                kernels.norm_tangent(shape.norm, norm.pieces, norm.width,
                                     tape.qk + r * (s.d_q + s.d_kv) + norm.column,
                                     norm.statistics.from(r * norm.pieces), norm.weight, at_norm, 1, at_norm);
            }
        }
    if (w.angles)
        kernels.rope(s.n - first_token, s.heads + s.kv_heads, s.dh, s.width,
                     w.angles + static_cast<std::size_t>(first_token) * s.dh, false, tangent);
}

/// Caps `count` rows of scores that are not scaled yet, and keeps them. Rows are n apart.
template <class T>
void cap_scores(const RowKernels<T>& kernels, const Places<T>& s, int count, int keys, T* scores, T* capped) {
    for (int r = 0; r < count; ++r, scores += s.n, capped += s.n) {
        kernels.soft_cap(static_cast<std::size_t>(keys), s.cap, scores);
        std::copy(scores, scores + keys, capped);
    }
}

/// Softmax of `count` rows of a map from first_row on, zero where they are masked.
template <class T>
void softmax_rows(const RowKernels<T>& kernels, const AttentionShape& shape, const Places<T>& s, int count,
                  int first_row, T* scores) {
    if (s.window == 0 || first_row + count <= s.window)
        return kernels.softmax(count, s.n, first_row, shape.causal, s.scale, scores);
    for (int row = first_row; row < first_row + count; ++row, scores += s.n) {
        const int begin = std::max(0, row + 1 - s.window), end = row + 1;
        std::fill(scores, scores + begin, T(0));
        kernels.softmax(1, end - begin, 0, false, s.scale, scores + begin);
        std::fill(scores + end, scores + s.n, T(0));
    }
}

/// The derivative of the cap, applied in place to rows of gradients or of directional derivatives; nothing
/// without a cap. `stride` is from one row of `capped` to the next: 0 where all rows read the same.
template <class T>
void through_cap(const RowKernels<T>& kernels, const Places<T>& s, int count, int keys, const T* capped,
                 std::size_t stride, T* rows) {
    if (!capped) return;
    for (int r = 0; r < count; ++r, rows += s.n, capped += stride)
        kernels.soft_cap_derivative(static_cast<std::size_t>(keys), s.cap, capped, rows, rows);
}

/// Of one map, from an entry on; null without a cap.
template <class T>
const T* capped_at(const AttentionTape<T>& tape, std::size_t at) {
    return tape.capped ? tape.capped + at : nullptr;
}

/// The maps of cpu_attention_jvp() where only the last token moves: each direction is one row, so that the
/// products run over all directions at once. tqkv: [R, width] -> mixed [R, d]; scores: [R, n] to work in.
template <class T>
void last_token_jvp(const CpuKernels<T>& kernels, const Places<T>& s, const AttentionTape<T>& tape, int R,
                    const T* tqkv, T* scores, T* mixed) {
    const int n = s.n;
    const T* rows = tape.qkv;
    const T* last = rows + static_cast<std::size_t>(n - 1) * s.width;
    for (int h = 0; h < s.heads; ++h) {
        const T* p = tape.probabilities + s.map(0, h) + static_cast<std::size_t>(n - 1) * n;
        // S' = Q'Kᵀ, and q·k' in the last column.
        kernels.products.nt(R, n, s.dh, 1, tqkv + s.q(h), s.width, rows + s.k(h), s.width, 0, scores, n);
        kernels.products.nt(R, 1, s.dh, 1, tqkv + s.k(h), s.width, last + s.q(h), s.width, 1, scores + n - 1,
                            n);
        through_cap(kernels.rows, s, R, n, capped_at(tape, s.map(0, h) + static_cast<std::size_t>(n - 1) * n),
                    0, scores);
        for (int r = 0; r < R; ++r) {
            T* row = scores + static_cast<std::size_t>(r) * n;
            kernels.rows.softmax_project(1, n, n, p, row, s.scale, row);
        }
        kernels.products.nn(R, s.dh, n, 1, scores, n, rows + s.v(h), s.width, 0, mixed + s.q(h), s.d_q);
        for (int r = 0; r < R; ++r) {
            T* out = mixed + static_cast<std::size_t>(r) * s.d_q + s.q(h);
            const T* tv = tqkv + static_cast<std::size_t>(r) * s.width + s.v(h);
            kernels.rows.axpby(static_cast<std::size_t>(s.dh), 1, out, p[n - 1], tv, out);
        }
    }
}

}  // namespace

template <class T>
void cpu_attention_forward(const CpuKernels<T>& kernels, const AttentionShape& shape, int sequences,
                           const AttentionWeights<T>& w, const T* u, const AttentionTape<T>& tape, T* f) {
    const Places<T> s(shape, w.scale);
    const int n = s.n;
    auto& scratch = Scratch<T>::of_thread();
    scratch.transposed.resize(static_cast<std::size_t>(n) * s.d_kv);
    T* keys_transposed = scratch.transposed.data();
    for (int b = 0; b < sequences; ++b, u += s.area()) {
        T* rows = tape.qkv + s.rows(b) * s.width;
        kernels.linear(n, s.width, s.d, u, w.qkv, rows);
        prepare_qk(kernels.rows, shape, s, w, b, tape);
        transpose(n, s.d_kv, rows + s.k(0), s.width, keys_transposed);
        for (int h = 0; h < s.heads; ++h) {
            T* p = tape.probabilities + s.map(b, h);
            T* mixed = tape.mixed + s.rows(b) * s.d_q + s.q(h);
            for_row_blocks(shape.causal, n, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row);
                T* block = p + row * n;
                const int count = end - first_row, keys = shape.causal ? end : n;
                kernels.scores.nn(count, keys, s.dh, 1, rows + row * s.width + s.q(h), s.width,
                                  keys_transposed + s.transposed(h), n, 0, block, n);
                if (tape.capped)
                    cap_scores(kernels.rows, s, count, keys, block, tape.capped + s.map(b, h) + row * n);
                softmax_rows(kernels.rows, shape, s, count, first_row, block);
                kernels.mixing.nn(count, s.dh, keys, 1, block, n, rows + s.v(h), s.width, 0,
                                  mixed + row * s.d_q, s.d_q);
            });
        }
        kernels.linear(n, s.d, s.d_q, tape.mixed + s.rows(b) * s.d_q, w.out, f + s.rows(b) * s.d);
    }
}

template <class T>
void cpu_attention_vjp(const CpuKernels<T>& kernels, const AttentionShape& shape, int sequences,
                       int directions, const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* u,
                       const T* df, T* du, const AttentionGradients<T>* gradients) {
    const Places<T> s(shape, w.scale);
    const int n = s.n, R = directions * sequences * n;
    const Products<T>& products = kernels.products;
    auto& scratch = Scratch<T>::of_thread();
    scratch.mixed.resize(static_cast<std::size_t>(n) * s.d_q);
    scratch.qkv.resize(static_cast<std::size_t>(R) * s.width);
    scratch.scores.resize(static_cast<std::size_t>(n) * n);
    scratch.transposed.resize(static_cast<std::size_t>(n) * s.d_kv);
    T* values_transposed = scratch.transposed.data();
    T* dmixed = scratch.mixed.data();
    T* dqkv = scratch.qkv.data();
    T* ds = scratch.scores.data();

    if (gradients) {
        kernels.weight_gradient(R, s.d, s.d_q, df, tape.mixed, gradients->fresh, gradients->wo);
        if (gradients->bo) kernels.rows.column_sums(R, s.d, df, gradients->bo);
    }
    for (int i = 0; i < directions * sequences; ++i) {
        const int sequence = i % sequences;
        const T* rows = tape.qkv + s.rows(sequence) * s.width;
        T* drows = dqkv + s.rows(i) * s.width;
        products.nn(n, s.d_q, s.d, 1, df + i * s.area(), s.d, w.out.weight, s.d_q, 0, dmixed, s.d_q);
        transpose(n, s.d_kv, rows + s.v(0), s.width, values_transposed);
        for (int h = 0; h < s.heads; ++h) {
            const T* p = tape.probabilities + s.map(sequence, h);
            const T* dout = dmixed + s.q(h);
            const T kept = s.first_of_group(h) ? T(0) : T(1);
            for_row_blocks(shape.causal, n, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row), at_row = row * n;
                const int count = end - first_row, keys = shape.causal ? end : n;
                products.nn(count, keys, s.dh, 1, dout + row * s.d_q, s.d_q,
                            values_transposed + s.transposed(h), n, 0, ds + at_row, n);
                kernels.rows.softmax_project(count, keys, n, p + at_row, ds + at_row, s.scale, ds + at_row);
                through_cap(kernels.rows, s, count, keys, capped_at(tape, s.map(sequence, h) + at_row),
                            static_cast<std::size_t>(n), ds + at_row);
                products.nn(count, s.dh, keys, 1, ds + at_row, n, rows + s.k(h), s.width, 0,
                            drows + row * s.width + s.q(h), s.width);
            });
            for_row_blocks(shape.causal, n, [&](int first_key, int end) {
                // Under causality only the queries from first_key on read these keys.
                const std::size_t key = static_cast<std::size_t>(first_key), from = shape.causal ? key : 0;
                const int count = end - first_key, queries = n - static_cast<int>(from);
                const std::size_t at_key = from * n + key;
                T* to = drows + key * s.width;
                products.tn(count, s.dh, queries, 1, p + at_key, n, dout + from * s.d_q, s.d_q, kept,
                            to + s.v(h), s.width);
                products.tn(count, s.dh, queries, 1, ds + at_key, n, rows + from * s.width + s.q(h), s.width,
                            kept, to + s.k(h), s.width);
            });
        }
        prepare_qk_vjp(kernels.rows, shape, s, w, sequence, tape, drows, gradients);
        products.nn(n, s.d, s.width, 1, drows, s.width, w.qkv.weight, s.d, 0, du + i * s.area(), s.d);
    }
    if (gradients) {
        kernels.weight_gradient(R, s.width, s.d, dqkv, u, gradients->fresh, gradients->wqkv);
        if (gradients->bqkv) kernels.rows.column_sums(R, s.width, dqkv, gradients->bqkv);
    }
}

template <class T>
void cpu_attention_jvp(const CpuKernels<T>& kernels, const AttentionShape& shape, int first_token,
                       int directions, const AttentionWeights<T>& w, const AttentionTape<T>& tape,
                       const T* tu, T* tf) {
    const Places<T> s(shape, w.scale);
    const int n = s.n, m = n - first_token, R = directions * m;
    const Products<T>& products = kernels.products;
    const LinearWeights<T> qkv{w.qkv.weight, w.qkv.transposed, nullptr},
        out{w.out.weight, w.out.transposed, nullptr};
    auto& scratch = Scratch<T>::of_thread();
    scratch.mixed.resize(static_cast<std::size_t>(R) * s.d_q);
    scratch.qkv.resize(static_cast<std::size_t>(R) * s.width);
    scratch.scores.resize(static_cast<std::size_t>(m == 1 ? R : m) * n);
    T* tqkv = scratch.qkv.data();
    T* tscores = scratch.scores.data();
    kernels.linear(R, s.width, s.d, tu, qkv, tqkv);
    if (m == 1) {
        for (int k = 0; k < directions; ++k)
            prepare_qk_jvp(kernels.rows, shape, s, w, first_token, tape,
                           tqkv + static_cast<std::size_t>(k) * s.width);
        last_token_jvp(kernels, s, tape, R, tqkv, tscores, scratch.mixed.data());
        kernels.linear(R, s.d, s.d_q, scratch.mixed.data(), out, tf);
        return;
    }

    const T* rows = tape.qkv;
    const T* moved =
        rows + static_cast<std::size_t>(first_token) * s.width;  // the tokens that the directions touch
    for (int k = 0; k < directions; ++k) {
        T* trows = tqkv + static_cast<std::size_t>(k) * m * s.width;
        prepare_qk_jvp(kernels.rows, shape, s, w, first_token, tape, trows);
        for (int h = 0; h < s.heads; ++h) {
            const T* p = tape.probabilities + s.map(0, h) + static_cast<std::size_t>(first_token) * n;
            T* tout = scratch.mixed.data() + static_cast<std::size_t>(k) * m * s.d_q + s.q(h);
            for_row_blocks(shape.causal, m, [&](int first_row, int end) {
                const std::size_t row = static_cast<std::size_t>(first_row), at_row = row * n;
                const int count = end - first_row, moved_keys = shape.causal ? end : m,
                          keys = first_token + moved_keys;
                T* to = tout + row * s.d_q;
                // S' = Q'Kᵀ + QK'ᵀ; the keys before first_token do not move.
                products.nt(count, keys, s.dh, 1, trows + row * s.width + s.q(h), s.width, rows + s.k(h),
                            s.width, 0, tscores + at_row, n);
                products.nt(count, moved_keys, s.dh, 1, moved + row * s.width + s.q(h), s.width,
                            trows + s.k(h), s.width, 1, tscores + at_row + first_token, n);
                through_cap(kernels.rows, s, count, keys,
                            capped_at(tape, s.map(0, h) + static_cast<std::size_t>(first_token) * n + at_row),
                            static_cast<std::size_t>(n), tscores + at_row);
                kernels.rows.softmax_project(count, keys, n, p + at_row, tscores + at_row, s.scale,
                                             tscores + at_row);
                products.nn(count, s.dh, keys, 1, tscores + at_row, n, rows + s.v(h), s.width, 0, to, s.d_q);
                products.nn(count, s.dh, moved_keys, 1, p + at_row + first_token, n, trows + s.v(h), s.width,
                            1, to, s.d_q);
            });
        }
    }
    kernels.linear(R, s.d, s.d_q, scratch.mixed.data(), out, tf);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                          \
    template void cpu_attention_forward<T>(const CpuKernels<T>&, const AttentionShape&, int,              \
                                           const AttentionWeights<T>&, const T*, const AttentionTape<T>&, \
                                           T*);                                                           \
    template void cpu_attention_vjp<T>(const CpuKernels<T>&, const AttentionShape&, int, int,             \
                                       const AttentionWeights<T>&, const AttentionTape<T>&, const T*,     \
                                       const T*, T*, const AttentionGradients<T>*);                       \
    template void cpu_attention_jvp<T>(const CpuKernels<T>&, const AttentionShape&, int, int,             \
                                       const AttentionWeights<T>&, const AttentionTape<T>&, const T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
