// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/split_ops.h"

#include "core/backend/cpu/cpu_attention.h"
#include "core/backend/cpu/kernels/rounded_kernels.h"

namespace normscope {

namespace {

bool has(const OperationKinds& low, OperationKind kind) {
    return low[static_cast<std::size_t>(kind)];
}

RowKernels<float> split_rows(Rounding rounding, const OperationKinds& low) {
    RowKernels<float> rows = row_kernels<float>();
    const RowKernels<float>& rounded = rounded_kernels(rounding);
    if (has(low, OperationKind::Softmax)) rows.softmax = rounded.softmax;
    if (has(low, OperationKind::Norm)) rows.norm_forward = rounded.norm_forward;
    if (has(low, OperationKind::Projections)) rows.rope = rounded.rope;
    if (has(low, OperationKind::Activation)) {
        rows.activation = rounded.activation;
        rows.gated = rounded.gated;
        rows.soft_cap = rounded.soft_cap;
    }
    if (has(low, OperationKind::Residual)) {
        rows.axpby = rounded.axpby;
        rows.scale = rounded.scale;
        rows.scale_columns = rounded.scale_columns;
    }
    return rows;
}

Products<float> split_products(Rounding rounding, const OperationKinds& low, OperationKind kind) {
    return {has(low, kind) ? rounding : Rounding::None, PrecisionPolicy::Autocast};
}

CpuKernels<float> split_kernels(Rounding rounding, const OperationKinds& low, OperationKind linear) {
    return {split_rows(rounding, low), split_products(rounding, low, linear),
            split_products(rounding, low, OperationKind::Scores),
            split_products(rounding, low, OperationKind::Mixing)};
}

}  // namespace

const std::array<const char*, kOperationKinds>& operation_kind_names() {
    static constexpr std::array<const char*, kOperationKinds> kNames{
        "scores", "softmax", "mixing", "projections", "feed_forward", "activation", "norm", "residual"};
    return kNames;
}

SplitLayerOps::SplitLayerOps(Rounding rounding, const OperationKinds& low)
    : CpuLayerOps<float>(split_kernels(rounding, low, OperationKind::FeedForward)),
      attention_(split_kernels(rounding, low, OperationKind::Projections)) {}

void SplitLayerOps::attention_forward(const AttentionShape& shape, int sequences,
                                      const AttentionWeights<float>& w, const float* u,
                                      const AttentionTape<float>& tape, float* f) {
    cpu_attention_forward(attention_, shape, sequences, w, u, tape, f);
}

SplitPassOps::SplitPassOps(Rounding rounding, const OperationKinds& low)
    : layers(rounding, low), elementwise(split_rows(rounding, low)) {}

}  // namespace normscope
