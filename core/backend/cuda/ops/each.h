// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: loops over entries and over the pieces of an arena.
#pragma once

#include "core/backend/cuda/ops/cuda_ops.h"

#include <algorithm>

namespace normscope::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr std::size_t kEntriesPerThread = 4;
inline unsigned whole_warps(unsigned threads) {
    return (threads + 31) / 32 * 32;
}

template <class Body>
NORMSCOPE_KERNEL void each_kernel(std::size_t count, Body body) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step)
        body(i);
}

/// kBlocksPerPiece blocks for each of the pieces first, first + 1, …; step(i, constants) for each of its
/// entries, with constants = step.constants(whether it decays). Nothing where it has a clipping factor and
/// that is kNoUpdate.
template <class Step>
NORMSCOPE_KERNEL void pieces_kernel(const ArenaPiece* pieces, int first, Step step) {
    if constexpr (requires { step.clip; })
        if (*step.clip == kNoUpdate) return;
    const ArenaPiece piece = pieces[first + static_cast<int>(blockIdx.x)];
    const auto constants = step.constants(piece.decays);
    const std::size_t stride = static_cast<std::size_t>(gridDim.y) * blockDim.x;
    std::size_t i = static_cast<std::size_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    if constexpr (requires { Step::flying; })
        for (; i + (Step::flying - 1) * stride < piece.count; i += Step::flying * stride)
            step.together(piece.offset + i, stride, constants);
    for (; i < piece.count; i += stride) step(piece.offset + i, constants);
}
inline constexpr unsigned kBlocksPerPiece = 16;  // 4 entries per thread of a piece of 2¹⁴
inline grid::Shape blocks_of_pieces(int pieces) {
    return {{static_cast<unsigned>(pieces), kBlocksPerPiece}, {kThreads}};
}
inline grid::Shape one_block_each(int pieces) {
    return {{static_cast<unsigned>(pieces)}, {kThreads}};
}

/// Of the pieces first … end − 1, which the host reads: for a log of a device whose memory it may read.
inline double entries_of(const ArenaPiece* pieces, int first, int end) {
    double count = 0;
    for (int i = first; i < end; ++i) count += static_cast<double>(pieces[i].count);
    return count;
}

/// A coefficient in device memory; null is 1.
template <class T>
NORMSCOPE_SHARED_CODE inline T value_of(const T* coefficient) {
    return coefficient ? *coefficient : T(1);
}

template <class T>
template <class Body>
void CudaCalls<T>::each(const char* name, std::size_t count, Body body) {
    if (count == 0) return;
    state_entries(context_.log(), body, static_cast<double>(count));
    run(name, kernel_of<each_kernel<Body>>, {{blocks_for(count, kThreads * kEntriesPerThread)}, {kThreads}},
        count, body);
}

struct RoundTo {
    Rounding to;
    float* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const { x[i] = rounded(to, x[i]); }
    Traffic moves() const { return {4, 4, 1}; }
};

template <class T>
void CudaCalls<T>::round_low(std::size_t count, T* x) {
    if constexpr (std::is_same_v<T, float>)
        if (rounding_ != Rounding::None) each("round", count, RoundTo{rounding_, x});
}

}  // namespace normscope::cuda
