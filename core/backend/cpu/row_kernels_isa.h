// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/attention_kernels.h"
#include "core/backend/cpu/row_kernels.h"

namespace normscope {

// Each is defined in a file compiled for that instruction set; call only where the processor supports it.
template <class T>
const RowKernels<T>& row_kernels_serial();
template <class T>
const RowKernels<T>& row_kernels_baseline();
template <class T>
const RowKernels<T>& row_kernels_avx2();
template <class T>
const RowKernels<T>& row_kernels_avx512();
template <class T>
const AttentionKernels<T>& attention_kernels_serial();
template <class T>
const AttentionKernels<T>& attention_kernels_baseline();
template <class T>
const AttentionKernels<T>& attention_kernels_avx2();
template <class T>
const AttentionKernels<T>& attention_kernels_avx512();

}  // namespace normscope
