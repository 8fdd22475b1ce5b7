// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/grid/tensor_core.h"

#include "core/backend/shared/low_precision.h"

#include <bit>
#include <cstring>

namespace normscope::grid {

namespace {

// GCC's own half precision; not in ISO C++20.
__extension__ typedef _Float16 Half;

double value_of(MmaFormat format, std::uint16_t bits) {
    if (format == MmaFormat::Bf16)
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
    return static_cast<double>(static_cast<float>(std::bit_cast<Half>(bits)));
}
std::uint16_t half_of(std::uint32_t pair, int i) {
    return static_cast<std::uint16_t>(pair >> (16 * i));
}

std::uint32_t bits_of(MmaFormat format, float value) {
    if (format == MmaFormat::Bf16) return std::bit_cast<std::uint32_t>(round_to_bf16(value)) >> 16;
    return std::bit_cast<std::uint16_t>(static_cast<Half>(value));
}

struct Fragments {
    std::uint32_t a[4], b[2];
    float c[4];
};
static_assert(sizeof(Fragments) <= kWarpBytes);

Fragments of_lane(const unsigned char (*in)[kWarpBytes], int lane) {
    Fragments f;
    std::memcpy(&f, in[lane], sizeof f);
    return f;
}

/// With A [16, K] and B [K, 8] gathered: c += A·B for every lane.
template <int K>
void multiply(const double (&A)[16][K], const double (&B)[K][8], const unsigned char (*in)[kWarpBytes],
              unsigned char (*out)[kWarpBytes]) {
    for (int lane = 0; lane < kWarp; ++lane) {
        const int g = lane / 4, t = lane % 4;
        Fragments f = of_lane(in, lane);
        for (int i = 0; i < 4; ++i) {
            const int row = g + (i >= 2 ? 8 : 0), column = 2 * t + (i & 1);
            double sum = static_cast<double>(f.c[i]);
            for (int k = 0; k < K; ++k) sum += A[row][k] * B[k][column];
            f.c[i] = static_cast<float>(sum);
        }
        std::memcpy(out[lane], f.c, sizeof f.c);
    }
}

template <MmaFormat F>
void multiply_halves(std::uint32_t, const unsigned char (*in)[kWarpBytes], unsigned char (*out)[kWarpBytes]) {
    double A[16][16], B[16][8];
    for (int lane = 0; lane < kWarp; ++lane) {
        const int g = lane / 4, t = lane % 4;
        const Fragments f = of_lane(in, lane);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 2; ++j)
                A[g + 8 * (i & 1)][2 * t + j + (i >= 2 ? 8 : 0)] = value_of(F, half_of(f.a[i], j));
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) B[2 * t + j + 8 * i][g] = value_of(F, half_of(f.b[i], j));
    }
    multiply<16>(A, B, in, out);
}

void multiply_tf32(std::uint32_t, const unsigned char (*in)[kWarpBytes], unsigned char (*out)[kWarpBytes]) {
    const auto tf32 = [](std::uint32_t bits) {
        return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
    };
    double A[16][8], B[8][8];
    for (int lane = 0; lane < kWarp; ++lane) {
        const int g = lane / 4, t = lane % 4;
        const Fragments f = of_lane(in, lane);
        for (int i = 0; i < 4; ++i) A[g + 8 * (i & 1)][t + (i >= 2 ? 4 : 0)] = tf32(f.a[i]);
        for (int i = 0; i < 2; ++i) B[t + 4 * i][g] = tf32(f.b[i]);
    }
    multiply<8>(A, B, in, out);
}

template <bool Transposed>
void distribute(std::uint32_t, const unsigned char (*in)[kWarpBytes], unsigned char (*out)[kWarpBytes]) {
    std::uint16_t rows[kWarp][8];
    for (int lane = 0; lane < kWarp; ++lane) std::memcpy(rows[lane], in[lane], sizeof rows[lane]);
    for (int lane = 0; lane < kWarp; ++lane) {
        const int g = lane / 4, t = lane % 4;
        std::uint32_t r[4];
        for (int m = 0; m < 4; ++m) {
            const std::uint16_t low = Transposed ? rows[8 * m + 2 * t][g] : rows[8 * m + g][2 * t];
            const std::uint16_t high = Transposed ? rows[8 * m + 2 * t + 1][g] : rows[8 * m + g][2 * t + 1];
            r[m] = static_cast<std::uint32_t>(high) << 16 | low;
        }
        std::memcpy(out[lane], r, sizeof r);
    }
}

void collect_mma(WarpCombine combine, float (&c)[4], const std::uint32_t (&a)[4],
                 const std::uint32_t (&b)[2]) {
    Fragments f;
    std::memcpy(f.a, a, sizeof f.a);
    std::memcpy(f.b, b, sizeof f.b);
    std::memcpy(f.c, c, sizeof f.c);
    // The combining function is the place: two of different formats do not meet.
    warp_collect(0xffffffffu, reinterpret_cast<const void*>(combine), &f, sizeof f, c, sizeof c, combine);
}

}  // namespace

void emulated_mma(MmaFormat format, float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    collect_mma(
        format == MmaFormat::Bf16 ? multiply_halves<MmaFormat::Bf16> : multiply_halves<MmaFormat::Fp16>, c, a,
        b);
}

void emulated_mma_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    collect_mma(multiply_tf32, c, a, b);
}

std::uint32_t emulated_pair(MmaFormat format, float low, float high) {
    return bits_of(format, low) | bits_of(format, high) << 16;
}

void emulated_ldmatrix(bool transposed, std::uint32_t (&r)[4], const void* row) {
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
        fault("gives ldmatrix a row that is not 16-byte aligned");
    if (!device_memory().owns(row)) fault("gives ldmatrix a row that is not in shared memory");
    plain_access(row, 16, false);
    const WarpCombine combine = transposed ? distribute<true> : distribute<false>;
    warp_collect(0xffffffffu, reinterpret_cast<const void*>(combine), row, 16, r, sizeof r, combine);
}

void cp_async16(void* shared, const void* global, bool wanted) {
    begin_copy(shared, global, wanted);
}
void cp_async_commit() {
    commit_copies();
}
void emulated_cp_async_wait(int left) {
    wait_for_copies(left);
}

}  // namespace normscope::grid
