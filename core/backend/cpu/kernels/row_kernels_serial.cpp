// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/attention_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_impl.h"
#include "core/backend/cpu/kernels/row_kernels_isa.h"

namespace normscope {

template <class T>
KernelTables<T> kernel_tables_serial() {
    return {RowKernelSet<Serial<T>>::table, AttentionKernelSet<Serial<T>>::table};
}
template KernelTables<float> kernel_tables_serial<float>();
template KernelTables<double> kernel_tables_serial<double>();

}  // namespace normscope
