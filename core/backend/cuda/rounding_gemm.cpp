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

float* RoundingGemm::work(Work slot, std::size_t count) {
    return static_cast<float*>(context_.workspace(slot, count * sizeof(float)));
}

Operand<const float> RoundingGemm::rounded_copy(Work slot, const Operand<const float>& of, int rows,
                                                int columns, int batch) {
    const int copies = of.stride == 0 ? 1 : batch;
    const std::size_t count = entries(rows, columns, copies);
    if (count == 0) return of;
    float* dense = work(slot, count);
    each_in(context_.queue(), "gemm_operand", count,
            CopyRounded{place_in(of, rows, columns), rounding_, of.data, dense});
    return {dense, columns, copies == 1 ? 0 : entries(rows, columns)};
}

void RoundingGemm::multiply(const Gemm<float>& g) {
    const std::size_t count = entries(g.M, g.N, g.batch);
    const StridedPlace place = place_in(g.C, g.M, g.N);
    if (pure_) {
        plain_.multiply(g);
        return each_in(context_.queue(), "gemm_round", count, RoundStrided{place, rounding_, g.C.data});
    }
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    Gemm<float> low = g;
    low.A = rounded_copy(Work::LeftOperand, g.A, a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, g.batch);
    low.B =
        rounded_copy(Work::RightOperand, g.B, b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, g.batch);
    low.beta = 0;
    if (g.beta == 0) {
        plain_.multiply(low);
        return each_in(context_.queue(), "gemm_round", count, RoundStrided{place, rounding_, g.C.data});
    }
    low.C = {work(Work::GemmResult, count), g.N, entries(g.M, g.N)};
    plain_.multiply(low);
    each_in(context_.queue(), "gemm_add", count, AddRounded{place, rounding_, g.beta, low.C.data, g.C.data});
}

void RoundingGemm::linear(int R, int out, int in, const float* x, const float* weight, const float* bias,
                          float* y) {
    const std::size_t count = entries(R, out);
    const Operand<float> result{y, out};
    const RoundStrided round{place_in(result, R, out), rounding_, y};
    if (pure_) {
        // The product is a result, and its sum with the bias is one.
        plain_.linear(R, out, in, x, weight, nullptr, y);
        each_in(context_.queue(), "gemm_round", count, round);
        if (!bias) return;
        each_in(context_.queue(), "add_bias", count, AddBias<float>{static_cast<std::size_t>(out), bias, y});
        return each_in(context_.queue(), "gemm_round", count, round);
    }
    const auto rows = rounded_copy(Work::LeftOperand, {x, in}, R, in, 1);
    const auto columns = rounded_copy(Work::RightOperand, {weight, in}, out, in, 1);
    const float* low_bias = bias ? rounded_copy(Work::GemmResult, {bias, out}, 1, out, 1).data : nullptr;
    plain_.linear(R, out, in, rows.data, columns.data, low_bias, y);
    each_in(context_.queue(), "gemm_round", count, round);
}

}  // namespace normscope::cuda
