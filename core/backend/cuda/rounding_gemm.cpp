// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/rounding_gemm.h"

#include "core/backend/cuda/strided.h"

namespace normscope::cuda {

namespace {

std::size_t entries(int rows, int columns, int batch = 1) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) *
           static_cast<std::size_t>(batch);
}

}  // namespace

Operand<const std::uint16_t> RoundingGemm::short_copy(Work slot, const Operand<const float>& of, int rows,
                                                      int columns, int batch) {
    constexpr int row = ShortGemmLibrary::kRow;
    const int ld = (columns + row - 1) / row * row, copies = of.stride == 0 ? 1 : batch;
    if (entries(rows, columns, copies) == 0) return {nullptr, ld};
    const std::size_t bytes = entries(rows, ld, copies) * sizeof(std::uint16_t);
    const Operand<std::uint16_t> copy{static_cast<std::uint16_t*>(context_.workspace(slot, bytes)), ld,
                                      copies == 1 ? 0 : entries(rows, ld)};
    each_entry(context_.queue(), "gemm_operand", rows, columns, copies,
               ToShort{place_in(of), place_in(copy), rounding_, of.data, copy.data});
    return {copy.data, copy.ld, copy.stride};
}

Gemm<float, std::uint16_t> RoundingGemm::with_short_operands(const Gemm<float>& g) {
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    return {g.form,
            g.M,
            g.N,
            g.K,
            short_copy(Work::LeftOperand, g.A, a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, g.batch),
            short_copy(Work::RightOperand, g.B, b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, g.batch),
            g.C,
            g.batch,
            g.alpha,
            g.beta};
}

void RoundingGemm::multiply(const Gemm<float>& g) {
    if (g.M == 0 || g.N == 0 || g.batch == 0) return;
    const Queue queue = context_.queue();
    auto low = with_short_operands(g);
    if (pure_ || g.beta == 0) {
        library_.multiply(rounding_, low);
        return each_entry(queue, "gemm_round", g.M, g.N, g.batch,
                          RoundStrided{place_in(g.C), rounding_, g.C.data});
    }
    low.beta = 0;
    const std::size_t bytes = entries(g.M, g.N, g.batch) * sizeof(float);
    low.C = {static_cast<float*>(context_.workspace(Work::GemmResult, bytes)), g.N, entries(g.M, g.N)};
    library_.multiply(rounding_, low);
    each_entry(queue, "gemm_add", g.M, g.N, g.batch,
               AddRounded{place_in(low.C), place_in(g.C), rounding_, g.beta, low.C.data, g.C.data});
}

void RoundingGemm::linear(const Linear<float>& product) {
    const auto [R, out, in, x, weight, bias, y] = product;
    if (R == 0 || out == 0) return;
    const Gemm<float> g{Form::Nt, R, out, in, {x, in}, {weight, in}, {y, out}};
    const Queue queue = context_.queue();
    library_.multiply(rounding_, with_short_operands(g));
    if (!bias) return each_entry(queue, "gemm_round", R, out, 1, RoundStrided{place_in(g.C), rounding_, y});
    // Not by the GEMM's epilogue, since y is read for rounding anyway.
    each_entry(queue, "gemm_bias", R, out, 1, AddBiasRounded{place_in(g.C), rounding_, pure_, bias, y});
}

}  // namespace normscope::cuda
