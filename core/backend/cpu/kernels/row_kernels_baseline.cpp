// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/attention_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_isa.h"
#include "core/backend/cpu/kernels/simd.h"

namespace normscope {

struct BaselineTag;

template <class T>
KernelTables<T> kernel_tables_baseline() {
    return {RowKernelSet<Simd<T, BaselineTag>>::table, AttentionKernelSet<Simd<T, BaselineTag>>::table};
}
template KernelTables<float> kernel_tables_baseline<float>();
template KernelTables<double> kernel_tables_baseline<double>();

}  // namespace normscope
