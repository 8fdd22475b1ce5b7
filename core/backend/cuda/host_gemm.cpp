// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/host_gemm.h"

#include "core/backend/cpu/kernels/autocast_kernels.h"
#include "core/backend/cpu/kernels/rounded_kernels.h"
#include "core/backend/cuda/launch/short_format.h"
#include "core/backend/grid/emulator.h"

#include <vector>

namespace normscope::cuda {

namespace {

template <class T>
const RowKernels<T>& kernels_of([[maybe_unused]] Rounding rounding, [[maybe_unused]] PrecisionPolicy policy) {
    if constexpr (std::is_same_v<T, float>)
        if (rounding != Rounding::None)
            return policy == PrecisionPolicy::Pure ? rounded_kernels(rounding) : autocast_kernels(rounding);
    return row_kernels<T>();
}

template <class P>
void check_reads(int rows, int columns, const P* x, int ld, const char* what) {
    for (int r = 0; r < rows; ++r)
        grid::device_memory().host_reads(x + static_cast<std::size_t>(r) * static_cast<std::size_t>(ld),
                                         static_cast<std::size_t>(columns) * sizeof(P), what);
}
template <class P>
void note_writes(int rows, int columns, P* x, int ld) {
    for (int r = 0; r < rows; ++r)
        grid::device_memory().host_wrote(x + static_cast<std::size_t>(r) * static_cast<std::size_t>(ld),
                                         static_cast<std::size_t>(columns) * sizeof(P));
}

/// An operand as it lies in memory.
struct Stored {
    int rows, columns;
};
template <class G>
Stored stored_a(const G& g) {
    return g.form == Form::Tn ? Stored{g.K, g.M} : Stored{g.M, g.K};
}
template <class G>
Stored stored_b(const G& g) {
    return g.form == Form::Nt ? Stored{g.N, g.K} : Stored{g.K, g.N};
}

/// Of the matrices of one call.
template <class G, class In, class Out>
void check_accesses(const G& g, const In* A, const In* B, Out* C, bool reads_c) {
    check_reads(stored_a(g).rows, stored_a(g).columns, A, g.A.ld, "GEMM, operand A");
    check_reads(stored_b(g).rows, stored_b(g).columns, B, g.B.ld, "GEMM, operand B");
    if (reads_c) check_reads(g.M, g.N, C, g.C.ld, "GEMM, operand C");
    note_writes(g.M, g.N, C, g.C.ld);
}

/// Row by row: the order in which OpenBLAS adds depends on the number of rows.
template <class T>
void multiply_rows(const Products<T>& products, Form form, int M, int N, int K, T alpha, const T* A, int lda,
                   const T* B, int ldb, T beta, T* C, int ldc) {
    for (int r = 0; r < M; ++r) {
        const std::size_t row = static_cast<std::size_t>(r);
        const T* a = A + (form == Form::Tn ? row : row * static_cast<std::size_t>(lda));
        T* c = C + row * static_cast<std::size_t>(ldc);
        switch (form) {
            case Form::Nt:
                products.nt(1, N, K, alpha, a, lda, B, ldb, beta, c, ldc);
                break;
            case Form::Nn:
                products.nn(1, N, K, alpha, a, lda, B, ldb, beta, c, ldc);
                break;
            case Form::Tn:
                products.tn(1, N, K, alpha, a, lda, B, ldb, beta, c, ldc);
                break;
        }
    }
}

/// Dense, in float32.
void widen(Rounding format, int rows, int columns, const std::uint16_t* x, int ld, std::vector<float>& to) {
    to.clear();
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            to.push_back(from_16_bits(
                format,
                x[static_cast<std::size_t>(r) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(c)]));
}

}  // namespace

template <class T>
HostGemm<T>::HostGemm(bool checked, Rounding rounding, PrecisionPolicy policy)
    : kernels_{kernels_of<T>(rounding, policy), {rounding, policy}}, checked_(checked) {}

template <class T>
void HostGemm<T>::multiply(const Gemm<T>& g) {
    for (int i = 0; i < g.batch; ++i) {
        const std::size_t b = static_cast<std::size_t>(i);
        const T* A = g.A.data + b * g.A.stride;
        const T* B = g.B.data + b * g.B.stride;
        T* C = g.C.data + b * g.C.stride;
        if (checked_) check_accesses(g, A, B, C, g.beta != T(0));
        multiply_rows(kernels_.products, g.form, g.M, g.N, g.K, g.alpha, A, g.A.ld, B, g.B.ld, g.beta, C,
                      g.C.ld);
    }
}

template <class T>
void HostGemm<T>::linear(const Linear<T>& g) {
    const auto [R, out, in, x, weight, bias, y] = g;
    if (checked_) {
        check_reads(R, in, x, in, "linear, x");
        check_reads(out, in, weight, in, "linear, W");
        if (bias) check_reads(1, out, bias, out, "linear, bias");
        note_writes(R, out, y, out);
    }
    for (std::size_t r = 0; r < static_cast<std::size_t>(R); ++r)
        kernels_.linear(1, out, in, x + r * static_cast<std::size_t>(in), {weight, nullptr, bias},
                        y + r * static_cast<std::size_t>(out));
}

template class HostGemm<float>;
template class HostGemm<double>;

void HostShortGemm::multiply(Rounding format, const Gemm<float, std::uint16_t>& g) {
    thread_local std::vector<float> left, right;
    for (int i = 0; i < g.batch; ++i) {
        const std::size_t b = static_cast<std::size_t>(i);
        const std::uint16_t *A = g.A.data + b * g.A.stride, *B = g.B.data + b * g.B.stride;
        float* C = g.C.data + b * g.C.stride;
        if (checked_) check_accesses(g, A, B, C, g.beta != 0);
        const Stored of_a = stored_a(g), of_b = stored_b(g);
        widen(format, of_a.rows, of_a.columns, A, g.A.ld, left);
        widen(format, of_b.rows, of_b.columns, B, g.B.ld, right);
        multiply_rows<float>({}, g.form, g.M, g.N, g.K, g.alpha, left.data(), of_a.columns, right.data(),
                             of_b.columns, g.beta, C, g.C.ld);
    }
}

void HostShortGemm::multiply(Rounding format, const ShortProduct& g) {
    const Stored of_a = stored_a(g), of_b = stored_b(g);
    const auto odd = [](std::size_t x) { return x % kRow != 0; };
    const auto place = [](const void* at) {
        return reinterpret_cast<std::size_t>(at) / sizeof(std::uint16_t);
    };
    if (checked_) {
        for (const std::size_t ld : {g.A.ld, g.B.ld, g.C.ld})
            if (odd(ld)) throw grid::GridFault("GEMM in 16 bits: rows are not multiples of 16 bytes apart");
        if (g.bias && odd(place(g.bias)))
            throw grid::GridFault("GEMM in 16 bits: the bias is not at a multiple of 16 bytes");
        check_accesses(g, g.A.data, g.B.data, g.C.data, false);
        if (g.bias) check_reads(1, g.N, g.bias, g.N, "GEMM, bias");
    }
    thread_local std::vector<float> left, right, bias, sums;
    widen(format, of_a.rows, of_a.columns, g.A.data, g.A.ld, left);
    widen(format, of_b.rows, of_b.columns, g.B.data, g.B.ld, right);
    bias.assign(static_cast<std::size_t>(g.N), 0.0f);
    if (g.bias) widen(format, 1, g.N, g.bias, g.N, bias);
    sums.resize(static_cast<std::size_t>(g.M) * static_cast<std::size_t>(g.N));
    multiply_rows<float>({}, g.form, g.M, g.N, g.K, 1, left.data(), of_a.columns, right.data(), of_b.columns,
                         0, sums.data(), g.N);
    for (std::size_t r = 0; r < static_cast<std::size_t>(g.M); ++r)
        for (std::size_t c = 0; c < static_cast<std::size_t>(g.N); ++c)
            g.C.data[r * static_cast<std::size_t>(g.C.ld) + c] =
                to_16_bits(format, sums[r * static_cast<std::size_t>(g.N) + c] + bias[c]);
}

}  // namespace normscope::cuda
