// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/pass_ops.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace normscope::cuda {

/// Which operand is stored transposed, as in cpu/matmul.h: A·Bᵀ, A·B, Aᵀ·B.
enum class Form { Nt, Nn, Tn };

/// One matrix of a batch, row-major: rows `ld` apart, matrices `stride` apart (0: the same one for all).
template <class P>
struct Operand {
    P* data;
    int ld;
    std::size_t stride = 0;
    bool operator==(const Operand&) const = default;
};

/// C[M, N] = alpha·op(A)·op(B) + beta·C, `batch` times, A and B stored as In. With beta 0 C is not read. K is
/// what is summed over.
template <class T, class In = T>
struct Gemm {
    Form form;
    int M, N, K;
    Operand<const In> A, B;
    Operand<T> C;
    int batch = 1;
    T alpha = 1, beta = 0;
    bool operator==(const Gemm&) const = default;
};

/// y[R, out] = x[R, in]·Wᵀ + bias, bias [out] or null.
template <class T>
struct Linear {
    int R, out, in;
    const T *x, *weight, *bias;
    T* y;
    bool operator==(const Linear&) const = default;
};

/// What a plan of a product depends on, but for its addresses.
template <class T, class In>
std::array<int, 8> sizes_of(const Gemm<T, In>& g) {
    return {static_cast<int>(g.form), g.M, g.N, g.K, g.A.ld, g.B.ld, g.C.ld, g.batch};
}
template <class T>
std::array<int, 3> sizes_of(const Linear<T>& g) {
    return {g.R, g.out, g.in};
}

/// GEMM of a device, in its stream: addresses are the device's. The same call gives the same bits every time.
/// On the emulated grid the result of a row does not depend on the other rows; cuBLAS chooses its algorithm
/// by the whole shape, so on a GPU the last bits of a row may depend on the number of rows (not on their
/// values).
template <class T>
class GemmLibrary {
  public:
    virtual ~GemmLibrary() = default;
    virtual void multiply(const Gemm<T>&) = 0;
    virtual void linear(const Linear<T>&) = 0;
};

/// A product in 16 bits: C[M, N] = op(A)·op(B) + bias, the sum in float32 and rounded once; bias [N], or null
/// for none.
struct ShortProduct {
    Form form;
    int M, N, K;
    Operand<const std::uint16_t> A, B;
    Operand<std::uint16_t> C;
    const std::uint16_t* bias = nullptr;
    bool operator==(const ShortProduct&) const = default;
};
inline std::array<int, 8> sizes_of(const ShortProduct& g) {
    return {static_cast<int>(g.form), g.M, g.N, g.K, g.A.ld, g.B.ld, g.C.ld, g.bias != nullptr};
}

/// GEMM of operands in BF16 or FP16, 16 bits each (short_format.h), as on tensor cores: products are exact,
/// sums and C are float32. Otherwise as GemmLibrary.
class ShortGemmLibrary {
  public:
    /// Rows of operands begin at multiples of this many entries, which is 16 bytes.
    static constexpr int kRow = 8;

    virtual ~ShortGemmLibrary() = default;
    /// format: Bf16 or Fp16, of A and B.
    virtual void multiply(Rounding format, const Gemm<float, std::uint16_t>&) = 0;
    /// Rows and the bias begin at multiples of kRow entries.
    virtual void multiply(Rounding format, const ShortProduct&) = 0;
};

}  // namespace normscope::cuda
