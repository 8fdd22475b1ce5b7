// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/host_gemm.h"

#include "core/backend/cpu/autocast_kernels.h"
#include "core/backend/cpu/rounded_kernels.h"
#include "core/backend/grid/emulator.h"

namespace normscope::cuda {

namespace {

template <class T>
const RowKernels<T>& kernels_of([[maybe_unused]] Rounding rounding, [[maybe_unused]] PrecisionPolicy policy) {
    if constexpr (std::is_same_v<T, float>)
        if (rounding != Rounding::None)
            return policy == PrecisionPolicy::Pure ? rounded_kernels(rounding) : autocast_kernels(rounding);
    return row_kernels<T>();
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
        const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
        reads(a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, A, g.A.ld, "GEMM, operand A");
        reads(b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, B, g.B.ld, "GEMM, operand B");
        if (g.beta != T(0)) reads(g.M, g.N, C, g.C.ld, "GEMM, operand C");
        writes(g.M, g.N, C, g.C.ld);
        // Row by row: the order in which OpenBLAS adds depends on the number of rows.
        for (int r = 0; r < g.M; ++r) {
            const std::size_t row = static_cast<std::size_t>(r);
            const T* a = A + (a_transposed ? row : row * static_cast<std::size_t>(g.A.ld));
            T* c = C + row * static_cast<std::size_t>(g.C.ld);
            switch (g.form) {
                case Form::Nt:
                    kernels_.products.nt(1, g.N, g.K, g.alpha, a, g.A.ld, B, g.B.ld, g.beta, c, g.C.ld);
                    break;
                case Form::Nn:
                    kernels_.products.nn(1, g.N, g.K, g.alpha, a, g.A.ld, B, g.B.ld, g.beta, c, g.C.ld);
                    break;
                case Form::Tn:
                    kernels_.products.tn(1, g.N, g.K, g.alpha, a, g.A.ld, B, g.B.ld, g.beta, c, g.C.ld);
                    break;
            }
        }
    }
}

template <class T>
void HostGemm<T>::linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) {
    reads(R, in, x, in, "linear, x");
    reads(out, in, weight, in, "linear, W");
    if (bias) reads(1, out, bias, out, "linear, bias");
    writes(R, out, y, out);
    for (std::size_t r = 0; r < static_cast<std::size_t>(R); ++r)
        kernels_.linear(1, out, in, x + r * static_cast<std::size_t>(in), {weight, nullptr, bias},
                        y + r * static_cast<std::size_t>(out));
}

template <class T>
void HostGemm<T>::reads(int rows, int columns, const T* x, int ld, const char* what) const {
    if (!checked_) return;
    for (int r = 0; r < rows; ++r)
        grid::device_memory().host_reads(x + static_cast<std::size_t>(r) * static_cast<std::size_t>(ld),
                                         static_cast<std::size_t>(columns) * sizeof(T), what);
}
template <class T>
void HostGemm<T>::writes(int rows, int columns, T* x, int ld) const {
    if (!checked_) return;
    for (int r = 0; r < rows; ++r)
        grid::device_memory().host_wrote(x + static_cast<std::size_t>(r) * static_cast<std::size_t>(ld),
                                         static_cast<std::size_t>(columns) * sizeof(T));
}

template class HostGemm<float>;
template class HostGemm<double>;

}  // namespace normscope::cuda
