// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/grid/grid.h"

#include <cstdint>

// Tensor cores and asynchronous copies, for both machines: PTX on a card, the same functions of a whole warp
// on the emulated grid, with the fragment layouts of the PTX ISA ("Matrix fragments for mma.m16n8k16",
// "ldmatrix"). All 32 lanes must call them together. With g = lane / 4 and t = lane % 4:
//
//   A [16, 16] of 16-bit values, a[4] of two each: row g + 8·(i & 1), columns 2t, 2t+1 (+ 8 for i >= 2)
//   B [16, 8],  b[2] of two each: rows 2t, 2t+1 (+ 8 for i = 1), column g
//   C [16, 8],  c[4] float: row g + 8·(i >= 2), column 2t + (i & 1)
//   A [16, 8] of TF32, a[4] of one each: row g + 8·(i & 1), column t + 4·(i >= 2);  B [8, 8], b[2]: row t +
//   4·i, column g
//
// The order in which a card sums the products is not documented: compare with a tolerance. The emulated sum
// is exact in float64 before it is rounded once.

namespace normscope::grid {

enum class MmaFormat { Bf16, Fp16 };

#if defined(__CUDACC__)

/// c += A·B, m16n8k16.
template <MmaFormat F>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
    if constexpr (F == MmaFormat::Bf16)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// c += A·B, m16n8k8; the low 13 bits of the values are ignored.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&c)[4], const std::uint32_t (&a)[4],
                                                 const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// Four 8 x 8 matrices of 16-bit values from shared memory: lane l names row l % 8 of matrix l / 8 (16 bytes,
/// 16-byte aligned); r[m] gets, of matrix m, row lane / 4, columns 2·(lane % 4) and the next; transposed: of
/// its transpose.
template <bool Transposed>
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&r)[4], const void* row) {
    const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at));
}
/// Two values in the format, rounded to nearest, ties to even: `low` in the low half, as in a fragment.
template <MmaFormat F>
__device__ __forceinline__ std::uint32_t packed_pair(float low, float high) {
    std::uint32_t pair;
    if constexpr (F == MmaFormat::Bf16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
/// Begins to copy 16 bytes from global to shared memory, both 16-byte aligned; zeros where not `wanted`
/// (global is then not read). Unreadable until cp_async_wait and, for other threads, a barrier.
__device__ __forceinline__ void cp_async16(void* shared, const void* global, bool wanted = true) {
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    const int bytes = wanted ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void cp_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most Left of the calling thread's groups are pending.
template <int Left>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}

#else

// tensor_core.cpp
void emulated_mma(MmaFormat format, float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
void emulated_mma_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
std::uint32_t emulated_pair(MmaFormat format, float low, float high);
void emulated_ldmatrix(bool transposed, std::uint32_t (&r)[4], const void* row);
void cp_async16(void* shared, const void* global, bool wanted = true);
void cp_async_commit();
void emulated_cp_async_wait(int left);

template <MmaFormat F>
void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    emulated_mma(F, c, a, b);
}
inline void mma_m16n8k8_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    emulated_mma_tf32(c, a, b);
}
template <MmaFormat F>
std::uint32_t packed_pair(float low, float high) {
    return emulated_pair(F, low, high);
}
template <bool Transposed>
void ldmatrix_x4(std::uint32_t (&r)[4], const void* row) {
    emulated_ldmatrix(Transposed, r, row);
}
template <int Left>
void cp_async_wait() {
    emulated_cp_async_wait(Left);
}

#endif

}  // namespace normscope::grid
