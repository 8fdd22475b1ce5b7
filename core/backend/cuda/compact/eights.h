// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#pragma once

#include "core/backend/cuda/launch/short_format.h"
#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/ops/columns.h"
#include "core/backend/grid/tensor_core.h"
#include "core/backend/row/elementwise.h"
#include "core/backend/row/gated.h"

namespace normscope::cuda::compact {

using grid::MmaFormat;

template <MmaFormat F>
inline constexpr Rounding kRounding = F == MmaFormat::Bf16 ? Rounding::Bf16 : Rounding::Fp16;

/// One value; exact.
template <MmaFormat F>
__device__ inline float wide(std::uint16_t stored) {
    return from_16_bits(kRounding<F>, stored);
}

/// Eight neighbouring entries, which a thread reads and writes as 16 bytes of a format or 32 of float32.
inline constexpr int kEight = 8;
struct Eight {
    float at[kEight];
};
/// Reads and writes what is stored as entries of 16 bits.
struct __attribute__((may_alias, aligned(16))) Bits {
    std::uint32_t word[4];
};
struct __attribute__((may_alias, aligned(16))) Four {
    float at[4];
};

template <MmaFormat F>
__device__ inline Eight widened(const Bits& bits) {
    Eight x;
    NORMSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
        x.at[2 * i] = wide<F>(static_cast<std::uint16_t>(bits.word[i]));
        x.at[2 * i + 1] = wide<F>(static_cast<std::uint16_t>(bits.word[i] >> 16));
    }
    return x;
}
template <MmaFormat F>
__device__ inline Eight load(const std::uint16_t* from) {
    return widened<F>(*reinterpret_cast<const Bits*>(from));
}
/// Returns what it has stored.
template <MmaFormat F>
__device__ inline Eight store(std::uint16_t* to, const Eight& x) {
    Bits bits;
    NORMSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) bits.word[i] = grid::packed_pair<F>(x.at[2 * i], x.at[2 * i + 1]);
    *reinterpret_cast<Bits*>(to) = bits;
    return widened<F>(bits);
}
__device__ inline Eight load(const float* from) {
    const Four a = reinterpret_cast<const Four*>(from)[0], b = reinterpret_cast<const Four*>(from)[1];
    return {{a.at[0], a.at[1], a.at[2], a.at[3], b.at[0], b.at[1], b.at[2], b.at[3]}};
}
__device__ inline void store(float* to, const Eight& x) {
    reinterpret_cast<Four*>(to)[0] = {{x.at[0], x.at[1], x.at[2], x.at[3]}};
    reinterpret_cast<Four*>(to)[1] = {{x.at[4], x.at[5], x.at[6], x.at[7]}};
}

// Bodies of loops over eights: i counts them.

/// *factor·x in 16 bits; the result is what is stored, for sums.
template <MmaFormat F>
struct Narrow {
    const float *factor, *x;
    std::uint16_t* to;
    __device__ Eight operator()(std::size_t i) const {
        Eight v = load(x + kEight * i);
        if (factor) {
            const float by = *factor;
            NORMSCOPE_UNROLL
            for (int k = 0; k < kEight; ++k) v.at[k] *= by;
        }
        return store<F>(to + kEight * i, v);
    }
    Traffic moves() const { return {4, 2, 1}; }
};
/// In float32, added to what is there where `add`.
template <MmaFormat F>
struct Widen {
    bool add;
    const std::uint16_t* x;
    float* to;
    __device__ void operator()(std::size_t i) const {
        Eight v = load<F>(x + kEight * i);
        if (add) {
            const Eight there = load(to + kEight * i);
            NORMSCOPE_UNROLL
            for (int k = 0; k < kEight; ++k) v.at[k] = there.at[k] + v.at[k];
        }
        store(to + kEight * i, v);
    }
    Traffic moves() const { return {add ? 6.0 : 2.0, 4, 1}; }
};
/// Axpby of an operand in 16 bits.
template <MmaFormat F>
struct AxpbyShort {
    const float *a, *x, *b;
    const std::uint16_t* y;
    float* out;
    __device__ void operator()(std::size_t i) const {
        const float by_x = value_of(a), by_y = value_of(b);
        const Eight u = load(x + kEight * i), v = load<F>(y + kEight * i);
        Eight sum;
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k)
            row::axpby<Serial<float>>(1, by_x, u.at + k, by_y, v.at + k, sum.at + k);
        store(out + kEight * i, sum);
    }
    Traffic moves() const { return {6, 4, 3}; }
};
/// Widen at the pieces of an arena.
template <MmaFormat F>
NORMSCOPE_KERNEL void widen_pieces_kernel(const ArenaPiece* pieces, bool fresh, const std::uint16_t* from,
                                          float* to) {
    const ArenaPiece piece = pieces[blockIdx.x];
    const Widen<F> widen{!fresh, from + piece.offset, to + piece.offset};
    const std::size_t stride = static_cast<std::size_t>(gridDim.y) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.y) * blockDim.x + threadIdx.x;
         i < piece.count / kEight; i += stride)
        widen(i);
}
/// Narrow of `groups` eights by the first `blocks` blocks, zero_by_block() by the others.
template <MmaFormat F>
NORMSCOPE_KERNEL void prepare_kernel(unsigned blocks, std::size_t groups, Narrow<F> narrow,
                                     const ArenaPiece* pieces, int count, float* arena, int others,
                                     double* numbers) {
    if (blockIdx.x >= blocks)
        return zero_by_block(blockIdx.x - blocks, pieces, count, arena, others, numbers);
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < groups) narrow(i);
}
struct FillZero {
    std::uint16_t* to;
    __device__ void operator()(std::size_t i) const { *reinterpret_cast<Bits*>(to + kEight * i) = Bits{}; }
    Traffic moves() const { return {0, 2, 0}; }
};

template <MmaFormat F, Activation A>
struct Activated {
    const std::uint16_t* h;
    std::uint16_t* a;
    __device__ void operator()(std::size_t i) const {
        Eight v = load<F>(h + kEight * i);
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) v.at[k] = row::activation<Serial<float>, A>(v.at[k]).value;
        store<F>(a + kEight * i, v);
    }
    Traffic moves() const { return {2, 2, 10}; }
};
/// The gradient before the activation, from that after it, in place.
template <MmaFormat F, Activation A>
struct ActivatedVjp {
    const std::uint16_t* h;
    std::uint16_t* gradient;
    __device__ Eight operator()(std::size_t i) const {
        const Eight v = load<F>(h + kEight * i);
        Eight d = load<F>(gradient + kEight * i);
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) d.at[k] = row::activation<Serial<float>, A>(v.at[k]).slope * d.at[k];
        return store<F>(gradient + kEight * i, d);
    }
    Traffic moves() const { return {4, 2, 11}; }
};

/// ElementwiseOps::gated and gated_vjp; width is a multiple of kEight.
template <MmaFormat F, Activation A>
struct GatedShort {
    std::size_t width;
    const std::uint16_t* pre;
    std::uint16_t* a;
    __device__ void operator()(std::size_t i) const {
        const std::size_t entry = kEight * i, at = entry / width * 2 * width + entry % width;
        const Eight g = load<F>(pre + at), u = load<F>(pre + at + width);
        Eight made;
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k) row::gated<Serial<float>, A>(1, g.at + k, u.at + k, made.at + k);
        store<F>(a + entry, made);
    }
    Traffic moves() const { return {4, 2, 8}; }
};
template <MmaFormat F, Activation A>
struct GatedShortVjp {
    std::size_t width;
    const std::uint16_t *pre, *da;
    std::uint16_t* dpre;
    __device__ void operator()(std::size_t i) const {
        const std::size_t entry = kEight * i, at = entry / width * 2 * width + entry % width;
        const Eight g = load<F>(pre + at), u = load<F>(pre + at + width), d = load<F>(da + entry);
        Eight dg, du;
        NORMSCOPE_UNROLL
        for (int k = 0; k < kEight; ++k)
            row::gated_backward<Serial<float>, A>(1, g.at + k, u.at + k, d.at + k, dg.at + k, du.at + k);
        store<F>(dpre + at, dg);
        store<F>(dpre + at + width, du);
    }
    Traffic moves() const { return {6, 4, 14}; }
};

/// What is there.
template <MmaFormat F>
struct Loaded {
    const std::uint16_t* x;
    __device__ Eight operator()(std::size_t i) const { return load<F>(x + kEight * i); }
    Traffic moves() const { return {2, 0, 0}; }
};

/// make(i) for the eights of rows [rows, d], and the sums of the results over chunks of rows, partial
/// [chunks, d], in the order of column_chunks_kernel (ops/columns.h): a warp for every kColumnWarps-th row of
/// its chunk and 32 eights.
template <class Make>
NORMSCOPE_KERNEL void sum_made_rows_kernel(int rows, int d, Make make, float* partial) {
    NORMSCOPE_SHARED(float, sums, 32 * kEight * kColumnWarps);
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int eights = d / kEight, eight = static_cast<int>(blockIdx.x) * 32 + lane;
    const int first = static_cast<int>(blockIdx.y) * kChunkRows;
    const int end = first + kChunkRows < rows ? first + kChunkRows : rows;
    Eight sum{};
    if (eight < eights)
        for (int r = first + warp; r < end; r += kColumnWarps) {
            const Eight made = make(static_cast<std::size_t>(r) * static_cast<std::size_t>(eights) +
                                    static_cast<std::size_t>(eight));
            NORMSCOPE_UNROLL
            for (int k = 0; k < kEight; ++k) sum.at[k] += made.at[k];
        }
    NORMSCOPE_UNROLL
    for (int k = 0; k < kEight; ++k) sums[(warp * kEight + k) * 32 + lane] = sum.at[k];
    __syncthreads();
    // Warp k of the block adds column k of each eight.
    float total = sums[warp * 32 + lane];
    for (int w = 1; w < kColumnWarps; ++w) total += sums[(w * kEight + warp) * 32 + lane];
    if (eight < eights)
        partial[static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(d) +
                static_cast<std::size_t>(eight * kEight + warp)] = total;
}
static_assert(kEight == kColumnWarps);

}  // namespace normscope::cuda::compact
