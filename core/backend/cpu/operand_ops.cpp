// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/operand_ops.h"

#include <vector>

namespace normscope {

namespace {

CpuKernels<float> operand_kernels(const OperandFormat& format) {
    Products<float> products;
    products.operands = &format;
    return {row_kernels<float>(), products};
}

}  // namespace

OperandLayerOps::OperandLayerOps(const OperandFormat& format)
    : CpuLayerOps<float>(operand_kernels(format)), format_(format) {}

void OperandLayerOps::norm_forward(const NormRows<float>& rows, const float* eps, const float* scale,
                                   float* y) {
    if (format_.block == 0 || !rows.gamma) return CpuLayerOps<float>::norm_forward(rows, eps, scale, y);
    const auto d = static_cast<std::size_t>(rows.d);
    std::vector<float> gamma(d);
    round_operand(format_, 0, d, 1, rows.gamma, gamma.data());
    NormRows<float> rounded = rows;
    rounded.gamma = gamma.data();
    CpuLayerOps<float>::norm_forward(rounded, eps, scale, y);
}

OperandPassOps::OperandPassOps(const OperandFormat& format)
    : layers(format), elementwise(row_kernels<float>()) {}

}  // namespace normscope
