// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/row_kernels.h"

#include "core/backend/cpu/kernels/row_kernels_isa.h"

namespace normscope {

namespace {

template <class T>
KernelTables<T> kernel_tables(Isa isa) {
    switch (isa) {
        case Isa::Avx512:
            return kernel_tables_avx512<T>();
        case Isa::Avx2:
            return kernel_tables_avx2<T>();
        case Isa::Baseline:
            return kernel_tables_baseline<T>();
        case Isa::Serial:
            break;
    }
    return kernel_tables_serial<T>();
}

}  // namespace

template <class T>
const RowKernels<T>& row_kernels(Isa isa) {
    return kernel_tables<T>(isa).rows;
}
template const RowKernels<float>& row_kernels<float>(Isa);
template const RowKernels<double>& row_kernels<double>(Isa);

template <class T>
const AttentionKernels<T>& attention_kernels(Isa isa) {
    return kernel_tables<T>(isa).attention;
}
template const AttentionKernels<float>& attention_kernels<float>(Isa);
template const AttentionKernels<double>& attention_kernels<double>(Isa);

}  // namespace normscope
