// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/attention_kernels.h"
#include "core/backend/cpu/kernels/row_kernels.h"

namespace normscope {

/// The kernels of one instruction set.
template <class T>
struct KernelTables {
    const RowKernels<T>& rows;
    const AttentionKernels<T>& attention;
};

// Each is defined in a file compiled for that instruction set; call only where the processor supports it.
template <class T>
KernelTables<T> kernel_tables_serial();
template <class T>
KernelTables<T> kernel_tables_baseline();
template <class T>
KernelTables<T> kernel_tables_avx2();
template <class T>
KernelTables<T> kernel_tables_avx512();

}  // namespace normscope
