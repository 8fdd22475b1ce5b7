// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/attention_kernels_impl.h"
#include "core/backend/cpu/row_kernels_impl.h"
#include "core/backend/cpu/row_kernels_isa.h"

namespace normscope {

struct BaselineTag;

template <class T>
const RowKernels<T>& row_kernels_baseline() {
    return RowKernelSet<Simd<T, BaselineTag>>::table;
}
template const RowKernels<float>& row_kernels_baseline<float>();
template const RowKernels<double>& row_kernels_baseline<double>();

template <class T>
const AttentionKernels<T>& attention_kernels_baseline() {
    return AttentionKernelSet<Simd<T, BaselineTag>>::table;
}
template const AttentionKernels<float>& attention_kernels_baseline<float>();
template const AttentionKernels<double>& attention_kernels_baseline<double>();

}  // namespace normscope
