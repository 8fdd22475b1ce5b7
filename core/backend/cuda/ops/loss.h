// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: embeddings and the cross-entropy.
#pragma once

#include "core/backend/cuda/launch/warp.h"
#include "core/backend/cuda/ops/elementwise.h"
#include "core/backend/row/cross_entropy.h"

namespace normscope::cuda {

template <class T>
struct Embed {
    std::size_t d, length;
    const std::int32_t* tokens;
    const T *table, *positions;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        const std::size_t row = i / d, column = i % d;
        const T token = table[static_cast<std::size_t>(tokens[row]) * d + column];
        x[i] = positions ? token + positions[row % length * d + column] : token;
    }
};

/// The gradient of each position: over the sequences in order.
template <class T>
struct PositionGradient {
    std::size_t d, length;
    int sequences;
    const T* dx;
    T* dpositions;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        T sum = dpositions[i];
        for (int b = 0; b < sequences; ++b) sum += dx[static_cast<std::size_t>(b) * length * d + i];
        dpositions[i] = sum;
    }
};

/// One warp per row. The first row of a token adds all rows of this token, in order: every entry of the table
/// is written by one warp.
template <class T>
__global__ void token_gradient_kernel(int rows, int d, const std::int32_t* tokens, const T* dx, T* dtable) {
    const int first = row_of_warp();
    if (first >= rows) return;
    const int lane = Warp<T>::lane();
    const std::int32_t token = tokens[first];
    for (int r = 0; r < first; r += 32) {
        const bool same = r + lane < first && tokens[r + lane] == token;
        if (__any_sync(0xffffffffu, same)) return;
    }
    T* to = dtable + static_cast<std::size_t>(token) * static_cast<std::size_t>(d);
    for (int r = first; r < rows; r += 32) {
        const bool same = r + lane < rows && tokens[r + lane] == token;
        const unsigned found = __ballot_sync(0xffffffffu, same);
        for (int k = 0; k < 32; ++k) {
            if (!(found >> k & 1u)) continue;
            const T* from = dx + static_cast<std::size_t>(r + k) * static_cast<std::size_t>(d);
            for (int column = lane; column < d; column += 32) to[column] += from[column];
        }
    }
}

template <class T>
__global__ void cross_entropy_kernel(int rows, int V, const T* logits, const std::int32_t* targets,
                                     const T* scale, T z, T* losses, T* dlogits) {
    const int r = row_of_warp();
    if (r >= rows) return;
    const std::size_t at = static_cast<std::size_t>(r) * static_cast<std::size_t>(V);
    const T loss = row::cross_entropy<Warp<T>>(logits + at, V, targets[r], dlogits ? value_of(scale) : T(1),
                                               z, dlogits ? dlogits + at : nullptr);
    if (Warp<T>::lane() == 0) losses[r] = loss;
}

template <class T>
void CudaLayerOps<T>::embedding_forward(int sequences, int length, int d, const std::int32_t* tokens,
                                        const T* table, const T* positions, T* x) {
    const std::size_t count = area(sequences * length, d);
    each(
        "embedding_forward", count,
        Embed<T>{static_cast<std::size_t>(d), static_cast<std::size_t>(length), tokens, table, positions, x});
    round_pure(count, x);
}

template <class T>
void CudaLayerOps<T>::embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx,
                                    int vocab, T* dtable, int context, T* dpositions) {
    const int rows = sequences * length;
    if (rows == 0) return;
    run("token_gradient", token_gradient_kernel<T>, one_warp_each(static_cast<std::size_t>(rows)), rows, d,
        tokens, dx, dtable);
    round_pure(area(vocab, d), dtable);
    if (!dpositions) return;
    each("position_gradient", area(length, d),
         PositionGradient<T>{static_cast<std::size_t>(d), static_cast<std::size_t>(length), sequences, dx,
                             dpositions});
    round_pure(area(context, d), dpositions);
}

template <class T>
void CudaElementwiseOps<T>::cross_entropy(int R, int V, const T* logits, const std::int32_t* targets,
                                          const T* scale, T z, T* losses, T* dlogits) {
    if (R == 0) return;
    run("cross_entropy", cross_entropy_kernel<T>, one_warp_each(static_cast<std::size_t>(R)), R, V, logits,
        targets, scale, z, losses, dlogits);
    if (dlogits) round_pure(area(R, V), dlogits);
}

}  // namespace normscope::cuda
