// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: attention with stored probabilities, as batched
// GEMMs of one head over all sequences, and row kernels.
#pragma once

#include "core/backend/cuda/impl/norm.h"
#include "core/backend/row/rope.h"
#include "core/backend/row/softmax.h"

#include <algorithm>
#include <array>

namespace normscope::cuda {

/// Sizes and offsets in the fused [q | k | v] rows.
struct HeadPlaces {
    explicit HeadPlaces(const AttentionShape& s)
        : d(s.d),
          dh(s.d_head()),
          d_kv(s.d_kv()),
          heads(s.heads),
          group(s.heads / s.kv_heads),
          width(s.width()),
          n(s.n) {}
    int d, dh, d_kv, heads, group, width, n;
    std::size_t q(int h) const { return static_cast<std::size_t>(h) * static_cast<std::size_t>(dh); }
    std::size_t k(int h) const { return static_cast<std::size_t>(d + h / group * dh); }
    std::size_t v(int h) const { return static_cast<std::size_t>(d + d_kv + h / group * dh); }
    std::size_t map() const { return area(n, n); }
    std::size_t map(int h) const { return static_cast<std::size_t>(h) * map(); }
    /// From one sequence to the next: of qkv rows, of rows of d, of maps.
    std::size_t next_qkv() const { return area(n, width); }
    std::size_t next_row() const { return area(n, d); }
    std::size_t next_map() const { return static_cast<std::size_t>(heads) * map(); }
};

/// The rows of attention maps, `rows` of each: row i is of token first + i mod rows.
struct MapRows {
    int rows, first, n;
    bool causal;
    NORMSCOPE_SHARED_CODE int length(int i) const { return causal ? first + i % rows + 1 : n; }
};

/// Row i of [count, n] becomes softmax(scale·row), zero after its length.
template <class T>
__global__ void softmax_kernel(int count, MapRows map, const T* scale, T* scores) {
    const int i = row_of_warp();
    if (i >= count) return;
    T* s = scores + static_cast<std::size_t>(i) * static_cast<std::size_t>(map.n);
    const int length = map.length(i);
    row::softmax<Warp<T>>(s, length, *scale);
    for (int k = length + Warp<T>::lane(); k < map.n; k += 32) s[k] = 0;
}

/// Row i of [count, n] becomes scale·(diag(p) − ppᵀ) times itself, zero after its length. Its p is row
/// first + i mod rows of map i / rows mod maps.
template <class T>
__global__ void softmax_project_kernel(int count, MapRows map, int maps, const T* scale, const T* p,
                                       T* gradient) {
    const int i = row_of_warp();
    if (i >= count) return;
    const auto n = static_cast<std::size_t>(map.n);
    T* g = gradient + static_cast<std::size_t>(i) * n;
    const std::size_t at = static_cast<std::size_t>(i / map.rows % maps) * n +
                           static_cast<std::size_t>(map.first + i % map.rows);
    const int length = map.length(i);
    row::softmax_project<Warp<T>>(p + at * n, g, length, *scale, g);
    for (int k = length + Warp<T>::lane(); k < map.n; k += 32) g[k] = 0;
}

/// One warp per row and head; `heads` neighbouring heads from the row's first entry on.
template <class T>
__global__ void rotate_kernel(int count, int heads, int dh, std::size_t stride, int tokens, const T* angles,
                              bool inverse, T* x) {
    const int i = row_of_warp();
    if (i >= count) return;
    const int row = i / heads, half = dh / 2;
    const T* cosines = angles + static_cast<std::size_t>(row % tokens) * static_cast<std::size_t>(dh);
    row::rope<Warp<T>>(x + static_cast<std::size_t>(row) * stride +
                           static_cast<std::size_t>(i % heads) * static_cast<std::size_t>(dh),
                       half, cosines, cosines + half, inverse);
}

/// The first `columns` entries of rows `stride` apart, as dense rows.
template <class T>
struct CopyColumns {
    std::size_t columns, stride;
    const T* from;
    T* to;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        to[i] = from[i / columns * stride + i % columns];
    }
};

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
    const auto k = static_cast<std::size_t>(s.d);
    if (s.qk_norm == QkNorm::Head)
        return {{{0, s.heads, s.d_head(), w.q_norm, tape.q_norm, dq},
                 {k, s.kv_heads, s.d_head(), w.k_norm, tape.k_norm, dk}}};
    return {{{0, 1, s.d, w.q_norm, tape.q_norm, dq}, {k, 1, s.d_kv(), w.k_norm, tape.k_norm, dk}}};
}
/// Its pieces in rows `stride` apart.
template <class T, class P>
PieceRows<P> pieces_of(const ProjectionNorm<T>& norm, P* rows, std::size_t stride) {
    return {rows + norm.column, stride, norm.pieces, norm.width};
}

template <class T>
void CudaOps<T>::rotate(const AttentionShape& shape, int R, int first_token, const T* angles, bool inverse,
                        T* qkv) {
    const HeadPlaces s(shape);
    const int heads = shape.heads + shape.kv_heads;
    run("rotate", rotate_kernel<T>, one_warp_each(area(R, heads)), R * heads, heads, s.dh,
        static_cast<std::size_t>(s.width), s.n - first_token, angles + area(first_token, s.dh), inverse, qkv);
    round_pure(area(R, s.width), qkv);
}

template <class T>
void CudaOps<T>::normalise_qk(const AttentionShape& shape, int sequences, const AttentionWeights<T>& w,
                              const AttentionTape<T>& tape) {
    const HeadPlaces s(shape);
    const int R = sequences * s.n, both = s.d + s.d_kv;
    const auto stride = static_cast<std::size_t>(s.width), projected = static_cast<std::size_t>(both);
    each("copy_qk", area(R, both), CopyColumns<T>{projected, stride, tape.qkv, tape.qk});
    for (const auto& norm : projection_norms(shape, w, tape))
        run("norm_qk", norm_forward_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)), R * norm.pieces,
            pieces_of<T, const T>(norm, tape.qk, projected), w.eps, norm.weight, nullptr, nullptr,
            norm.statistics, pieces_of<T, T>(norm, tape.qkv, stride));
    round_pure(area(R, s.width), tape.qkv);
}

template <class T>
void CudaOps<T>::attention_forward(const AttentionShape& shape, int sequences, const AttentionWeights<T>& w,
                                   const T* u, const AttentionTape<T>& tape, T* f) {
    if (sequences == 0) return;
    const HeadPlaces s(shape);
    const int n = s.n, R = sequences * n;
    gemm_.linear(R, s.width, s.d, u, w.qkv.weight, w.qkv.bias, tape.qkv);
    if (tape.qk) normalise_qk(shape, sequences, w, tape);
    if (w.angles) rotate(shape, R, 0, w.angles, false, tape.qkv);
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
    run("softmax", softmax_kernel<T>, one_warp_each(static_cast<std::size_t>(rows)), rows,
        MapRows{n, 0, n, shape.causal}, w.scale, tape.probabilities);
    round_pure(area(rows, n), tape.probabilities);
    for (int h = 0; h < s.heads; ++h)
        gemm_.multiply({Form::Nn,
                        n,
                        s.dh,
                        n,
                        {tape.probabilities + s.map(h), n, s.next_map()},
                        {tape.qkv + s.v(h), s.width, s.next_qkv()},
                        {tape.mixed + s.q(h), s.d, s.next_row()},
                        sequences});
    gemm_.linear(R, s.d, s.d, tape.mixed, w.out.weight, w.out.bias, f);
}

template <class T>
void CudaOps<T>::attention_vjp(const AttentionShape& shape, int sequences, int directions,
                               const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* u,
                               const T* df, T* du, const AttentionGradients<T>* gradients) {
    if (sequences == 0 || directions == 0) return;
    const HeadPlaces s(shape);
    const int n = s.n, R = directions * sequences * n, maps = sequences * s.heads;
    T* const dmixed = work(Work::Mixed, area(R, s.d));
    T* const dqkv = work(Work::Gradient, area(R, s.width));
    T* const ds = work(Work::Scores, static_cast<std::size_t>(maps) * s.map());
    if (gradients) {
        linear_weight_gradient(R, s.d, s.d, df, tape.mixed, gradients->fresh, gradients->wo);
        if (gradients->bo) column_sums(R, s.d, df, gradients->bo);
    }
    linear_input_gradient(R, s.d, s.d, df, w.out.weight, dmixed);
    for (int k = 0; k < directions; ++k) {
        const T* dout = dmixed + static_cast<std::size_t>(k * sequences) * s.next_row();
        T* to = dqkv + static_cast<std::size_t>(k * sequences) * s.next_qkv();
        for (int h = 0; h < s.heads; ++h)
            gemm_.multiply({Form::Nt,
                            n,
                            n,
                            s.dh,
                            {dout + s.q(h), s.d, s.next_row()},
                            {tape.qkv + s.v(h), s.width, s.next_qkv()},
                            {ds + s.map(h), n, s.next_map()},
                            sequences});
        run("softmax_project", softmax_project_kernel<T>, one_warp_each(area(maps, n)), maps * n,
            MapRows{n, 0, n, shape.causal}, maps, w.scale, tape.probabilities, ds);
        round_pure(static_cast<std::size_t>(maps) * s.map(), ds);
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
                            {dout + s.q(h), s.d, s.next_row()},
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
    if (w.angles) rotate(shape, R, 0, w.angles, true, dqkv);
    if (tape.qk) {
        const auto stride = static_cast<std::size_t>(s.width);
        for (const auto& norm : projection_norms(shape, w, tape, gradients)) {
            const auto x = pieces_of<T, const T>(norm, tape.qk, static_cast<std::size_t>(s.d + s.d_kv));
            const auto at_norm = pieces_of<T, const T>(norm, dqkv, stride);
            if (norm.gradient) {
                add_columns("norm_gamma", R * norm.pieces, norm.width,
                            GammaTerm<T>{x, norm.statistics, at_norm, nullptr}, norm.gradient);
                round_pure(static_cast<std::size_t>(norm.width), norm.gradient);
            }
            run("norm_qk_vjp", norm_project_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)),
                R * norm.pieces, TapePiece{0, sequences * n, norm.pieces}, x, norm.statistics, norm.weight,
                nullptr, nullptr, false, at_norm, pieces_of<T, T>(norm, dqkv, stride));
        }
        round_pure(area(R, s.width), dqkv);
    }
    linear_input_gradient(R, s.width, s.d, dqkv, w.qkv.weight, du);
    if (gradients) {
        linear_weight_gradient(R, s.width, s.d, dqkv, u, gradients->fresh, gradients->wqkv);
        if (gradients->bqkv) column_sums(R, s.width, dqkv, gradients->bqkv);
    }
}

template <class T>
void CudaOps<T>::attention_jvp(const AttentionShape& shape, int first_token, int directions,
                               const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* tu,
                               T* tf) {
    const HeadPlaces s(shape);
    const int n = s.n, m = n - first_token, R = directions * m;
    if (R == 0) return;
    T* const mixed = work(Work::Mixed, area(R, s.d));
    T* const tqkv = work(Work::Gradient, area(R, s.width));
    gemm_.linear(R, s.width, s.d, tu, w.qkv.weight, nullptr, tqkv);
    if (tape.qk) {
        const auto stride = static_cast<std::size_t>(s.width);
        for (const auto& norm : projection_norms(shape, w, tape))
            run("norm_qk_jvp", norm_project_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)),
                R * norm.pieces, TapePiece{first_token, m, norm.pieces},
                pieces_of<T, const T>(norm, tape.qk, static_cast<std::size_t>(s.d + s.d_kv)), norm.statistics,
                nullptr, norm.weight, nullptr, false, pieces_of<T, const T>(norm, tqkv, stride),
                pieces_of<T, T>(norm, tqkv, stride));
        round_pure(area(R, s.width), tqkv);
    }
    if (w.angles) rotate(shape, R, first_token, w.angles, false, tqkv);

    // Directions in groups whose maps fit in a buffer of bounded size; the results do not depend on it.
    constexpr std::size_t kMapEntries = std::size_t{1} << 24;
    const std::size_t entries = static_cast<std::size_t>(s.heads) * area(m, n);
    const int group = static_cast<int>(
        std::clamp<std::size_t>(kMapEntries / entries, 1, static_cast<std::size_t>(directions)));
    T* const scores = work(Work::Scores, static_cast<std::size_t>(group) * entries);
    const T* const moved = tape.qkv + area(first_token, s.width);  // the tokens that the directions touch
    for (int k = 0; k < directions; k += group) {
        const int count = std::min(group, directions - k);
        T* const rows = tqkv + area(k * m, s.width);
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
        run("softmax_project", softmax_project_kernel<T>, one_warp_each(static_cast<std::size_t>(map_rows)),
            map_rows, MapRows{m, first_token, n, shape.causal}, s.heads, w.scale, tape.probabilities, scores);
        round_pure(area(map_rows, n), scores);
        for (int h = 0; h < s.heads; ++h) {
            const Operand<T> to{mixed + area(k * m, s.d) + s.q(h), s.d, area(m, s.d)};
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
    gemm_.linear(R, s.d, s.d, mixed, w.out.weight, nullptr, tf);
}

}  // namespace normscope::cuda
