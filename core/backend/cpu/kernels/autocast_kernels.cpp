// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/autocast_kernels.h"

#include "core/backend/cpu/kernels/rounded_kernels.h"

#include <vector>

namespace normscope {

namespace {

template <Rounding R>
void column_sums(int rows, int d, const float* x, float* sums) {
    const RowKernels<float>& plain = row_kernels<float>();
    thread_local std::vector<float> low, sum;
    const std::size_t width = static_cast<std::size_t>(d);
    low.assign(x, x + static_cast<std::size_t>(rows) * width);
    plain.round(R, low.size(), low.data());
    sum.assign(width, 0.0f);
    plain.column_sums(rows, d, low.data(), sum.data());
    plain.round(R, width, sum.data());
    plain.axpby(width, 1, sums, 1, sum.data(), sums);
}

template <Rounding R>
const RowKernels<float>& table() {
    static const RowKernels<float> kernels = [] {
        RowKernels<float> k = row_kernels<float>();
        const RowKernels<float>& low = rounded_kernels(R);
        k.activation = low.activation;
        k.multiply = low.multiply;
        k.gated = low.gated;
        k.gated_backward = low.gated_backward;
        k.gated_tangent = low.gated_tangent;
        k.soft_cap = low.soft_cap;
        k.soft_cap_derivative = low.soft_cap_derivative;
        k.column_sums = column_sums<R>;
        return k;
    }();
    return kernels;
}

}  // namespace

const RowKernels<float>& autocast_kernels(Rounding to) {
    switch (to) {
        case Rounding::None:
            break;
        case Rounding::Bf16:
            return table<Rounding::Bf16>();
        case Rounding::Fp16:
            return table<Rounding::Fp16>();
        case Rounding::Tf32:
            break;
    }
    return row_kernels<float>();
}

}  // namespace normscope
