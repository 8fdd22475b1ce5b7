// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/attention_kernels.h"

#include "core/backend/cpu/row_kernels_isa.h"

namespace normscope {

template <class T>
const AttentionKernels<T>& attention_kernels(Isa isa) {
    switch (isa) {
        case Isa::Avx512:
            return attention_kernels_avx512<T>();
        case Isa::Avx2:
            return attention_kernels_avx2<T>();
        case Isa::Baseline:
            return attention_kernels_baseline<T>();
        case Isa::Serial:
            break;
    }
    return attention_kernels_serial<T>();
}
template const AttentionKernels<float>& attention_kernels<float>(Isa);
template const AttentionKernels<double>& attention_kernels<double>(Isa);

}  // namespace normscope
