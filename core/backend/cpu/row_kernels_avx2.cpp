// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/attention_kernels_impl.h"
#include "core/backend/cpu/row_kernels_impl.h"
#include "core/backend/cpu/row_kernels_isa.h"

namespace normscope {

struct Avx2Tag;

template <class T>
const RowKernels<T>& row_kernels_avx2() {
    return RowKernelSet<Simd<T, Avx2Tag>>::table;
}
template const RowKernels<float>& row_kernels_avx2<float>();
template const RowKernels<double>& row_kernels_avx2<double>();

template <class T>
const AttentionKernels<T>& attention_kernels_avx2() {
    return AttentionKernelSet<Simd<T, Avx2Tag>>::table;
}
template const AttentionKernels<float>& attention_kernels_avx2<float>();
template const AttentionKernels<double>& attention_kernels_avx2<double>();

}  // namespace normscope
