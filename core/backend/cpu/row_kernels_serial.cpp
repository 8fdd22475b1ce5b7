// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/attention_kernels_impl.h"
#include "core/backend/cpu/row_kernels_impl.h"
#include "core/backend/cpu/row_kernels_isa.h"

namespace normscope {

template <class T>
const RowKernels<T>& row_kernels_serial() {
    return RowKernelSet<Serial<T>>::table;
}
template const RowKernels<float>& row_kernels_serial<float>();
template const RowKernels<double>& row_kernels_serial<double>();

template <class T>
const AttentionKernels<T>& attention_kernels_serial() {
    return AttentionKernelSet<Serial<T>>::table;
}
template const AttentionKernels<float>& attention_kernels_serial<float>();
template const AttentionKernels<double>& attention_kernels_serial<double>();

}  // namespace normscope
