// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/attention_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_isa.h"
#include "core/backend/cpu/kernels/simd.h"

namespace normscope {

struct Avx2Tag;

template <class T>
KernelTables<T> kernel_tables_avx2() {
    return {RowKernelSet<Simd<T, Avx2Tag>>::table, AttentionKernelSet<Simd<T, Avx2Tag>>::table};
}
template KernelTables<float> kernel_tables_avx2<float>();
template KernelTables<double> kernel_tables_avx2<double>();

}  // namespace normscope
