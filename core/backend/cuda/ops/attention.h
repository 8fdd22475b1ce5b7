// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: attention with its projections; between them with
// stored probabilities (stored_attention.h) or in tiles (tiled/tiled_attention.h).
#pragma once

#include "core/backend/cuda/ops/norm_backward.h"
#include "core/backend/cuda/ops/stored_attention.h"
#include "core/backend/row/rope.h"

#include <array>
#include <string>

namespace normscope::cuda {

/// One warp per row and head; `heads` neighbouring heads from the row's first entry on.
template <class T>
NORMSCOPE_KERNEL void rotate_kernel(int count, int heads, int dh, std::size_t stride, int tokens,
                                    const T* angles, bool inverse, T* x) {
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
    Traffic moves() const { return {sizeof(T), sizeof(T), 0}; }
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
    const auto k = static_cast<std::size_t>(s.d_q());
    if (s.qk_norm == QkNorm::Head)
        return {{{0, s.heads, s.head_width, w.q_norm, tape.q_norm, dq},
                 {k, s.kv_heads, s.head_width, w.k_norm, tape.k_norm, dk}}};
    return {{{0, 1, s.d_q(), w.q_norm, tape.q_norm, dq}, {k, 1, s.d_kv(), w.k_norm, tape.k_norm, dk}}};
}
/// Its pieces in rows `stride` apart.
template <class T, class P>
PieceRows<P> pieces_of(const ProjectionNorm<T>& norm, P* rows, std::size_t stride) {
    return {rows + norm.column, stride, norm.pieces, norm.width};
}

template <class T>
void CudaLayerOps<T>::rotate(const AttentionShape& shape, int R, int first_token, const T* angles,
                             bool inverse, T* qkv) {
    const HeadPlaces s(shape);
    const int heads = shape.heads + shape.kv_heads;
    moves([&] { return rotation_traffic(R, heads, s.dh, s.n - first_token, sizeof(T)); });
    run("rotate", kernel_of<rotate_kernel<T>>, one_warp_each(area(R, heads)), R * heads, heads, s.dh,
        static_cast<std::size_t>(s.width), s.n - first_token, angles + area(first_token, s.dh), inverse, qkv);
    round_pure(area(R, s.width), qkv);
}

template <class T>
void CudaLayerOps<T>::normalise_qk(const AttentionShape& shape, int sequences, const AttentionWeights<T>& w,
                                   const AttentionTape<T>& tape) {
    const HeadPlaces s(shape);
    const int R = sequences * s.n, both = s.d_q + s.d_kv;
    const auto stride = static_cast<std::size_t>(s.width), projected = static_cast<std::size_t>(both);
    each("copy_qk", area(R, both), CopyColumns<T>{projected, stride, tape.qkv, tape.qk});
    for (const auto& norm : projection_norms(shape, w, tape)) {
        moves(
            [&] { return norm_traffic(R * norm.pieces, norm.width, sizeof(T), sizeof(T), 2, 0, sizeof(T)); });
        run("norm_qk", norm_forward_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)), R * norm.pieces,
            pieces_of<T, const T>(norm, tape.qk, projected), w.eps, norm.weight, nullptr, nullptr,
            norm.statistics, pieces_of<T, T>(norm, tape.qkv, stride));
    }
    round_pure(area(R, s.width), tape.qkv);
}

template <class T>
void CudaLayerOps<T>::require_maps(const AttentionShape& shape, const AttentionTape<T>& tape) const {
    if (tape.probabilities || (tape.row_softmax && can_tile(shape.head_width))) return;
    const std::string limit = "tiles are of float32 or autocast, heads of at most ";
    throw InputError("attention needs its probabilities: " + limit + std::to_string(kTiledHead));
}

template <class T>
void CudaLayerOps<T>::attention_forward(const AttentionShape& shape, int sequences,
                                        const AttentionWeights<T>& w, const T* u,
                                        const AttentionTape<T>& tape, T* f) {
    if (sequences == 0) return;
    const HeadPlaces s(shape);
    const int R = sequences * s.n;
    require_maps(shape, tape);
    gemm_.linear({R, s.width, s.d, u, w.qkv.weight, w.qkv.bias, tape.qkv});
    if (tape.qk) normalise_qk(shape, sequences, w, tape);
    if (w.angles) rotate(shape, R, 0, w.angles, false, tape.qkv);
    if (tape.probabilities)
        stored_forward(shape, sequences, w, tape);
    else if constexpr (std::is_same_v<T, float>)
        tiled_attention(rounding_).forward(context_, shape, sequences, w.scale,
                                           TiledAttention::tape_of(tape));
    gemm_.linear({R, s.d, s.d_q, tape.mixed, w.out.weight, w.out.bias, f});
}

template <class T>
void CudaLayerOps<T>::attention_vjp(const AttentionShape& shape, int sequences, int directions,
                                    const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* u,
                                    const T* df, T* du, const AttentionGradients<T>* gradients) {
    if (sequences == 0 || directions == 0) return;
    const HeadPlaces s(shape);
    const int n = s.n, R = directions * sequences * n;
    require_maps(shape, tape);
    T* const dmixed = work(Work::Mixed, area(R, s.d_q));
    T* const dqkv = work(Work::Gradient, area(R, s.width));
    if (gradients) {
        linear_weight_gradient(R, s.d, s.d_q, df, tape.mixed, gradients->fresh, gradients->wo);
        if (gradients->bo) column_sums(R, s.d, df, gradients->bo);
    }
    linear_input_gradient(R, s.d, s.d_q, df, w.out.weight, dmixed);
    // The bias' gradient is that of what the projection gave: tiles sum it where nothing lies between.
    T* bias = gradients ? gradients->bqkv : nullptr;
    if (tape.probabilities) {
        stored_vjp(shape, sequences, directions, w, tape, dmixed, dqkv);
    } else if constexpr (std::is_same_v<T, float>) {
        T* const of_tiles = w.angles || tape.qk ? nullptr : std::exchange(bias, nullptr);
        this->tiled_vjp(rounding_, shape, sequences, directions, w.scale, TiledAttention::tape_of(tape),
                        {dmixed}, {dqkv}, of_tiles);
    }
    if (w.angles) rotate(shape, R, 0, w.angles, true, dqkv);
    if (tape.qk) {
        const auto stride = static_cast<std::size_t>(s.width);
        for (const auto& norm : projection_norms(shape, w, tape, gradients)) {
            const auto x = pieces_of<T, const T>(norm, tape.qk, static_cast<std::size_t>(s.d_q + s.d_kv));
            const auto at_norm = pieces_of<T, const T>(norm, dqkv, stride);
            if (norm.gradient) {
                add_columns("norm_gamma", R * norm.pieces, norm.width,
                            GammaTerm<T>{x, norm.statistics, at_norm, nullptr}, norm.gradient);
                round_pure(static_cast<std::size_t>(norm.width), norm.gradient);
            }
            moves([&] {
                return norm_traffic(R * norm.pieces, norm.width, 2 * sizeof(T), sizeof(T), 0, 2, sizeof(T));
            });
            run("norm_qk_vjp", norm_project_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)),
                R * norm.pieces, TapePiece{0, sequences * n, norm.pieces}, x, norm.statistics, norm.weight,
                nullptr, nullptr, false, at_norm, pieces_of<T, T>(norm, dqkv, stride));
        }
        round_pure(area(R, s.width), dqkv);
    }
    linear_input_gradient(R, s.width, s.d, dqkv, w.qkv.weight, du);
    if (gradients) {
        linear_weight_gradient(R, s.width, s.d, dqkv, u, gradients->fresh, gradients->wqkv);
        if (bias) column_sums(R, s.width, dqkv, bias);
    }
}

template <class T>
void CudaLayerOps<T>::attention_jvp(const AttentionShape& shape, int first_token, int directions,
                                    const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* tu,
                                    T* tf) {
    const HeadPlaces s(shape);
    const int n = s.n, m = n - first_token, R = directions * m;
    if (R == 0) return;
    require_maps(shape, tape);
    T* const mixed = work(Work::Mixed, area(R, s.d_q));
    T* const tqkv = work(Work::Gradient, area(R, s.width));
    gemm_.linear({R, s.width, s.d, tu, w.qkv.weight, nullptr, tqkv});
    if (tape.qk) {
        const auto stride = static_cast<std::size_t>(s.width);
        for (const auto& norm : projection_norms(shape, w, tape)) {
            moves([&] {
                return norm_traffic(R * norm.pieces, norm.width, 2 * sizeof(T), sizeof(T), 0, 2, sizeof(T));
            });
            run("norm_qk_jvp", norm_project_of<T>(shape.norm), one_warp_each(area(R, norm.pieces)),
                R * norm.pieces, TapePiece{first_token, m, norm.pieces},
                pieces_of<T, const T>(norm, tape.qk, static_cast<std::size_t>(s.d_q + s.d_kv)),
                norm.statistics, nullptr, norm.weight, nullptr, false,
                pieces_of<T, const T>(norm, tqkv, stride), pieces_of<T, T>(norm, tqkv, stride));
        }
        round_pure(area(R, s.width), tqkv);
    }
    if (w.angles) rotate(shape, R, first_token, w.angles, false, tqkv);
    if (tape.probabilities)
        stored_jvp(shape, first_token, directions, w, tape, tqkv, mixed);
    else if constexpr (std::is_same_v<T, float>)
        tiled_attention(rounding_).jvp(context_, shape, first_token, directions, w.scale,
                                       TiledAttention::tape_of(tape), tqkv, mixed);
    gemm_.linear({R, s.d, s.d_q, mixed, w.out.weight, nullptr, tf});
}

}  // namespace normscope::cuda
