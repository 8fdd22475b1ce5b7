// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/emulated_ops.h"

#include "core/backend/cpu/kernels/autocast_kernels.h"
#include "core/backend/cpu/kernels/rounded_kernels.h"

#include <limits>

namespace normscope {

namespace {

CpuKernels<float> emulated_kernels(Rounding rounding, PrecisionPolicy policy) {
    return {policy == PrecisionPolicy::Pure ? rounded_kernels(rounding) : autocast_kernels(rounding),
            {rounding, policy}};
}

std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

EmulatedLayerOps::EmulatedLayerOps(Rounding rounding, PrecisionPolicy policy)
    : CpuLayerOps<float>(emulated_kernels(rounding, policy)),
      storage_(policy == PrecisionPolicy::Pure ? rounding : Rounding::None) {}

int EmulatedLayerOps::step_rows() const {
    return std::numeric_limits<int>::max();
}

void EmulatedLayerOps::embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens,
                                     const float* dx, int vocab, float* dtable, int context,
                                     float* dpositions) {
    CpuLayerOps<float>::embedding_vjp(sequences, length, d, tokens, dx, vocab, dtable, context, dpositions);
    row_kernels<float>().round(storage_, area(vocab, d), dtable);
    if (dpositions) row_kernels<float>().round(storage_, area(context, d), dpositions);
}

void EmulatedLayerOps::transpose_weight(int out, int in, const float* weight, float* transposed) {
    CpuLayerOps<float>::transpose_weight(out, in, weight, transposed);
    if (kernels_.products.policy == PrecisionPolicy::Autocast)
        row_kernels<float>().round(kernels_.products.rounding, area(out, in), transposed);
}

void EmulatedLayerOps::round_weights(std::size_t count, float* weights) {
    row_kernels<float>().round(storage_, count, weights);
}

EmulatedPassOps::EmulatedPassOps(Rounding rounding, PrecisionPolicy policy)
    : layers(rounding, policy), elementwise(emulated_kernels(rounding, policy).rows) {}

}  // namespace normscope
