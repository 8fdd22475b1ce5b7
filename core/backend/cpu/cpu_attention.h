// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"

namespace normscope {

// Attention on the CPU (see LayerOps): one sequence after another, so that intermediate results stay in the
// cache; maps of a causal stack in blocks of rows, so that GEMM skips most of the masked half. Each call runs
// on the calling thread, with scratch memory that the thread keeps.

template <class T>
void cpu_attention_forward(const CpuKernels<T>&, const AttentionShape&, int sequences,
                           const AttentionWeights<T>&, const T* u, const AttentionTape<T>&, T* f);

template <class T>
void cpu_attention_vjp(const CpuKernels<T>&, const AttentionShape&, int sequences, int directions,
                       const AttentionWeights<T>&, const AttentionTape<T>&, const T* u, const T* df, T* du,
                       const AttentionGradients<T>* gradients);

template <class T>
void cpu_attention_jvp(const CpuKernels<T>&, const AttentionShape&, int first_token, int directions,
                       const AttentionWeights<T>&, const AttentionTape<T>&, const T* tu, T* tf);

}  // namespace normscope
