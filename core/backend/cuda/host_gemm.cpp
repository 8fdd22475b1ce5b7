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

/// Of the matrices of one call.
template <class T, class In>
void check_accesses(const Gemm<T, In>& g, const In* A, const In* B, T* C) {
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    check_reads(a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, A, g.A.ld, "GEMM, operand A");
    check_reads(b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, B, g.B.ld, "GEMM, operand B");
    if (g.beta != T(0)) check_reads(g.M, g.N, C, g.C.ld, "GEMM, operand C");
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
        if (checked_) check_accesses(g, A, B, C);
        multiply_rows(kernels_.products, g.form, g.M, g.N, g.K, g.alpha, A, g.A.ld, B, g.B.ld, g.beta, C,
                      g.C.ld);
    }
}

template <class T>
void HostGemm<T>::linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) {
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
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    const int A_rows = a_transposed ? g.K : g.M, A_columns = a_transposed ? g.M : g.K,
              B_rows = b_transposed ? g.N : g.K, B_columns = b_transposed ? g.K : g.N;
    thread_local std::vector<float> left, right;
    for (int i = 0; i < g.batch; ++i) {
        const std::size_t b = static_cast<std::size_t>(i);
        const std::uint16_t *A = g.A.data + b * g.A.stride, *B = g.B.data + b * g.B.stride;
        float* C = g.C.data + b * g.C.stride;
        if (checked_) check_accesses(g, A, B, C);
        widen(format, A_rows, A_columns, A, g.A.ld, left);
        widen(format, B_rows, B_columns, B, g.B.ld, right);
        multiply_rows<float>({}, g.form, g.M, g.N, g.K, g.alpha, left.data(), A_columns, right.data(),
                             B_columns, g.beta, C, g.C.ld);
    }
}

}  // namespace normscope::cuda
