// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_step_ops.h"
#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/newton_schulz.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace normscope {

namespace {

double decay(const OptimizerNumbers& n, bool decays) {
    return decays ? 1 - n.lr * n.weight_decay : 1;
}

/// One AdamW step on one piece; the arenas begin at it.
template <class T>
void adamw_piece(std::size_t count, const OptimizerNumbers& n, double clip, double kept, const T* g, T* p,
                 T* m, T* v) {
    const row::AdamWStep<T> constants{static_cast<T>(n.lr),          static_cast<T>(n.beta1),
                                      static_cast<T>(n.beta2),       static_cast<T>(n.eps),
                                      static_cast<T>(kept),          static_cast<T>(clip),
                                      static_cast<T>(n.correction1), static_cast<T>(n.root_correction2)};
    row_kernels<T>().adamw(count, constants, p, g, m, v);
}

/// clip·g + wd·p, in a buffer of this thread.
template <class T>
const T* decayed_gradient(std::size_t count, const OptimizerNumbers& n, double clip, const T* g, const T* p) {
    thread_local std::vector<T> buffer;
    buffer.resize(count);
    row_kernels<T>().axpby(count, static_cast<T>(clip), g, static_cast<T>(n.weight_decay), p, buffer.data());
    return buffer.data();
}

}  // namespace

template <class T>
void CpuStepOps<T>::clip_gates(int count, const std::size_t* gates, double clip, const double* global,
                               T* gradients) {
    if (*global == kNoUpdate) return;
    double squares = 0;
    for (int i = 0; i < count; ++i) {
        const double g = *global * static_cast<double>(gradients[gates[i]]);
        squares += g * g;
    }
    const double factor = clip_factor(std::sqrt(squares), clip);
    for (int i = 0; i < count; ++i) gradients[gates[i]] *= static_cast<T>(factor);
}

template <class T>
void CpuStepOps<T>::adamw(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                          const double* clip, const T* g, T* p, T* m, T* v) {
    if (*clip == kNoUpdate) return;
    for (int i = first; i < end; ++i) {
        const auto& [at, count, decays] = pieces[i];
        adamw_piece(count, *n, *clip, decay(*n, decays), g + at, p + at, m + at, v + at);
    }
}

template <class T>
void CpuStepOps<T>::adam(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                         const double* clip, const T* g, T* p, T* m, T* v) {
    if (*clip == kNoUpdate) return;
    for (int i = first; i < end; ++i) {
        const std::size_t at = pieces[i].offset, count = pieces[i].count;
        adamw_piece(count, *n, 1, 1, decayed_gradient(count, *n, *clip, g + at, p + at), p + at, m + at,
                    v + at);
    }
}

template <class T>
void CpuStepOps<T>::sgd(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                        const double* clip, const T* g, T* p, T* m) {
    if (*clip == kNoUpdate) return;
    const auto& k = row_kernels<T>();
    for (int i = first; i < end; ++i) {
        const std::size_t at = pieces[i].offset, count = pieces[i].count;
        k.axpby(count, static_cast<T>(n->beta1), m + at, 1,
                decayed_gradient(count, *n, *clip, g + at, p + at), m + at);
        k.axpby(count, 1, p + at, static_cast<T>(-n->lr), m + at, p + at);
    }
}

template <class T>
void CpuStepOps<T>::muon(int rows, int columns, bool decays, const OptimizerNumbers* n, const double* clip,
                         const T* g, T* p, T* m) {
    if (*clip == kNoUpdate) return;
    const auto& k = row_kernels<T>();
    const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    const T kept = static_cast<T>(Muon::momentum), fresh = static_cast<T>((1 - Muon::momentum) * *clip);
    k.axpby(count, kept, m, fresh, g, m);
    thread_local std::vector<T> direction;
    direction.resize(count);
    k.axpby(count, kept, m, fresh, g, direction.data());
    orthogonalise(rows, columns, direction);
    const double scale = std::sqrt(std::max(1.0, static_cast<double>(rows) / columns));
    k.axpby(count, static_cast<T>(decay(*n, decays)), p, static_cast<T>(-n->lr * scale), direction.data(), p);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                            \
    template void CpuStepOps<T>::clip_gates(int, const std::size_t*, double, const double*, T*);            \
    template void CpuStepOps<T>::adamw(const ArenaPiece*, int, int, const OptimizerNumbers*, const double*, \
                                       const T*, T*, T*, T*);                                               \
    template void CpuStepOps<T>::adam(const ArenaPiece*, int, int, const OptimizerNumbers*, const double*,  \
                                      const T*, T*, T*, T*);                                                \
    template void CpuStepOps<T>::sgd(const ArenaPiece*, int, int, const OptimizerNumbers*, const double*,   \
                                     const T*, T*, T*);                                                     \
    template void CpuStepOps<T>::muon(int, int, bool, const OptimizerNumbers*, const double*, const T*, T*, \
                                      T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
