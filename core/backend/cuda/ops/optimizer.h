// SPDX-License-Identifier: GPL-3.0-or-later
// Included by cuda_ops_float.cpp and cuda_ops_double.cpp: clipping and the optimizers, one block per piece.
#pragma once

#include "core/backend/cpu/linear_algebra/newton_schulz.h"
#include "core/backend/cuda/launch/unroll.h"
#include "core/backend/cuda/ops/columns.h"
#include "core/backend/cuda/ops/reduction.h"
#include "core/backend/row/adamw.h"

#include <algorithm>

namespace normscope::cuda {

NORMSCOPE_SHARED_CODE inline double decay_of(const OptimizerNumbers& n, bool decays) {
    return decays ? 1 - n.lr * n.weight_decay : 1;
}

// Each for one thread.
template <class T>
struct BeginStep {
    StepRule rule;
    int accumulate;
    std::int64_t tokens;
    const StepControl* control;
    LossFactors<T>* factors;
    StepReport* report;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t) const {
        begin_step(rule, accumulate, tokens, *control, *factors, *report);
    }
    Traffic moves() const { return {sizeof(StepControl), sizeof(LossFactors<T>), 10}; }
};
/// By one block.
template <class T>
NORMSCOPE_KERNEL void finalize_step_kernel(StepRule rule, const StepKnobs* knobs, StepLosses<T> losses,
                                           GradientSquares squares, StepControl* control, StepReport* report,
                                           OptimizerNumbers* numbers, double* clip) {
    const double loss = block_sum(static_cast<int>(losses.count), losses.losses);
    __syncthreads();
    const double total = block_sum(squares.count, squares.squares);
    if (threadIdx.x != 0) return;
    AddOver{static_cast<double>(losses.count), losses.divisor, &report->loss}(loss);
    RootOver{squares.divisor, squares.norm}(total);
    finalize_step(rule, *knobs, *squares.norm, *control, *report, *numbers, *clip);
}
template <class T>
struct ClipGates {
    int count;
    const std::size_t* gates;
    double clip;
    const double* global;
    T* gradients;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t) const {
        if (*global == kNoUpdate) return;
        double squares = 0;
        for (int i = 0; i < count; ++i) {
            const double g = *global * static_cast<double>(gradients[gates[i]]);
            squares += g * g;
        }
        const T factor = static_cast<T>(clip_factor(std::sqrt(squares), clip));
        for (int i = 0; i < count; ++i) gradients[gates[i]] *= factor;
    }
    Traffic moves() const { return Traffic{sizeof(T), sizeof(T), 6} * count; }
};

template <class T>
NORMSCOPE_SHARED_CODE row::AdamWStep<T> adamw_step(const OptimizerNumbers& n, double clip, double kept) {
    return {static_cast<T>(n.lr),          static_cast<T>(n.beta1),
            static_cast<T>(n.beta2),       static_cast<T>(n.eps),
            static_cast<T>(kept),          static_cast<T>(clip),
            static_cast<T>(n.correction1), static_cast<T>(n.root_correction2)};
}
template <class T>
struct AdamW {
    const OptimizerNumbers* n;
    const double* clip;
    const T* g;
    T *p, *m, *v;
    NORMSCOPE_SHARED_CODE row::AdamWStep<T> constants(bool decays) const {
        return adamw_step<T>(*n, *clip, decay_of(*n, decays));
    }
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i, const row::AdamWStep<T>& step) const {
        row::adamw<Serial<T>>(1, step, p + i, g + i, m + i, v + i);
    }
    /// The same for entries i, i + stride, …, whose loads are in flight together.
    static constexpr int flying = 4;
    __device__ void together(std::size_t i, std::size_t stride, const row::AdamWStep<T>& step) const {
        T of_g[flying], of_p[flying], of_m[flying], of_v[flying];
        NORMSCOPE_UNROLL
        for (int k = 0; k < flying; ++k) {
            const std::size_t at = i + static_cast<std::size_t>(k) * stride;
            of_g[k] = g[at];
            of_p[k] = p[at];
            of_m[k] = m[at];
            of_v[k] = v[at];
        }
        NORMSCOPE_UNROLL
        for (int k = 0; k < flying; ++k) {
            const std::size_t at = i + static_cast<std::size_t>(k) * stride;
            row::adamw<Serial<T>>(1, step, of_p + k, of_g + k, of_m + k, of_v + k);
            p[at] = of_p[k];
            m[at] = of_m[k];
            v[at] = of_v[k];
        }
    }
    Traffic moves() const { return {4 * sizeof(T), 3 * sizeof(T), 16}; }
};

/// clip·g + wd·p.
template <class T>
struct CoupledDecay {
    T clip, weight_decay;
    NORMSCOPE_SHARED_CODE T gradient(T g, T p) const {
        T out;
        row::axpby<Serial<T>>(1, clip, &g, weight_decay, &p, &out);
        return out;
    }
};
template <class T>
struct Adam {
    struct Constants {
        row::AdamWStep<T> step;
        CoupledDecay<T> decay;
    };
    const OptimizerNumbers* n;
    const double* clip;
    const T* g;
    T *p, *m, *v;
    NORMSCOPE_SHARED_CODE Constants constants(bool) const {
        return {adamw_step<T>(*n, 1, 1), {static_cast<T>(*clip), static_cast<T>(n->weight_decay)}};
    }
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i, const Constants& c) const {
        const T gradient = c.decay.gradient(g[i], p[i]);
        row::adamw<Serial<T>>(1, c.step, p + i, &gradient, m + i, v + i);
    }
    Traffic moves() const { return {4 * sizeof(T), 3 * sizeof(T), 18}; }
};
template <class T>
struct Sgd {
    struct Constants {
        T momentum, rate;
        CoupledDecay<T> decay;
    };
    const OptimizerNumbers* n;
    const double* clip;
    const T* g;
    T *p, *m;
    NORMSCOPE_SHARED_CODE Constants constants(bool) const {
        return {static_cast<T>(n->beta1),
                static_cast<T>(-n->lr),
                {static_cast<T>(*clip), static_cast<T>(n->weight_decay)}};
    }
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i, const Constants& c) const {
        const T gradient = c.decay.gradient(g[i], p[i]);
        row::axpby<Serial<T>>(1, c.momentum, m + i, T(1), &gradient, m + i);
        row::axpby<Serial<T>>(1, T(1), p + i, c.rate, m + i, p + i);
    }
    Traffic moves() const { return {3 * sizeof(T), 2 * sizeof(T), 7}; }
};

/// Muon's momentum, and the direction before it is orthogonalised.
template <class T>
struct MuonMomentum {
    const double* clip;
    const T* g;
    T *m, *direction;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        if (*clip == kNoUpdate) {
            direction[i] = 0;
            return;
        }
        const T kept = static_cast<T>(Muon::momentum), fresh = static_cast<T>((1 - Muon::momentum) * *clip);
        row::axpby<Serial<T>>(1, kept, m + i, fresh, g + i, m + i);
        row::axpby<Serial<T>>(1, kept, m + i, fresh, g + i, direction + i);
    }
    Traffic moves() const { return {2 * sizeof(T), 2 * sizeof(T), 6}; }
};
template <class T>
struct MuonUpdate {
    const OptimizerNumbers* n;
    const double* clip;
    bool decays;
    double scale;
    const T* direction;
    T* p;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        if (*clip == kNoUpdate) return;
        row::axpby<Serial<T>>(1, static_cast<T>(decay_of(*n, decays)), p + i, static_cast<T>(-n->lr * scale),
                              direction + i, p + i);
    }
    Traffic moves() const { return {2 * sizeof(T), sizeof(T), 3}; }
};
/// x / (√squares + tiny).
template <class T>
struct Normalise {
    const double* squares;
    T* x;
    NORMSCOPE_SHARED_CODE void operator()(std::size_t i) const {
        row::scale<Serial<T>>(1, static_cast<T>(1 / (std::sqrt(*squares) + Muon::tiny)), x + i, x + i);
    }
    Traffic moves() const { return {sizeof(T), sizeof(T), 1}; }
};

template <class T>
void CudaStepOps<T>::begin_step(const StepRule& rule, int accumulate, std::int64_t tokens,
                                const StepControl* control, LossFactors<T>* factors, StepReport* report) {
    each("begin_step", 1, BeginStep<T>{rule, accumulate, tokens, control, factors, report});
}
template <class T>
void CudaStepOps<T>::finalize_step(const StepRule& rule, const StepKnobs* knobs, const StepLosses<T>& losses,
                                   const GradientSquares& squares, StepControl* control, StepReport* report,
                                   OptimizerNumbers* numbers, double* clip) {
    moves([&] {
        const double sums = static_cast<double>(losses.count) + squares.count;
        return Traffic{static_cast<double>(losses.count) * sizeof(T) + squares.count * 8.0 +
                           sizeof(StepControl) + sizeof(StepKnobs),
                       sizeof(StepControl) + sizeof(OptimizerNumbers) + 8.0, sums + 50};
    });
    run("finalize_step", kernel_of<finalize_step_kernel<T>>, grid::Shape{{1}, {kThreads}}, rule, knobs,
        losses, squares, control, report, numbers, clip);
}
template <class T>
void CudaStepOps<T>::clip_gates(int count, const std::size_t* gates, double clip, const double* global,
                                T* gradients) {
    if (count > 0) each("clip_gates", 1, ClipGates<T>{count, gates, clip, global, gradients});
}
template <class T>
void CudaStepOps<T>::adamw(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                           const double* clip, const T* g, T* p, T* m, T* v) {
    if (end > first)
        moves([&] { return AdamW<T>{n, clip, g, p, m, v}.moves() * entries_of(pieces, first, end); });
    if (end > first)
        run("adamw", kernel_of<pieces_kernel<AdamW<T>>>, blocks_of_pieces(end - first), pieces, first,
            AdamW<T>{n, clip, g, p, m, v});
}
template <class T>
void CudaStepOps<T>::adam(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                          const double* clip, const T* g, T* p, T* m, T* v) {
    if (end > first)
        moves([&] { return Adam<T>{n, clip, g, p, m, v}.moves() * entries_of(pieces, first, end); });
    if (end > first)
        run("adam", kernel_of<pieces_kernel<Adam<T>>>, blocks_of_pieces(end - first), pieces, first,
            Adam<T>{n, clip, g, p, m, v});
}
template <class T>
void CudaStepOps<T>::sgd(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* n,
                         const double* clip, const T* g, T* p, T* m) {
    if (end > first) moves([&] { return Sgd<T>{n, clip, g, p, m}.moves() * entries_of(pieces, first, end); });
    if (end > first)
        run("sgd", kernel_of<pieces_kernel<Sgd<T>>>, blocks_of_pieces(end - first), pieces, first,
            Sgd<T>{n, clip, g, p, m});
}

/// In place, as cpu/newton_schulz.cpp, by GEMMs.
template <class T>
void CudaStepOps<T>::orthogonalise(int rows, int columns, T* matrix) {
    const bool tall = rows > columns;
    const int m = std::min(rows, columns), n = std::max(rows, columns);
    const std::size_t count = area(m, n), square = area(m, m);
    T* x = matrix;
    T* product = work(Work::Product, count);
    if (tall) {
        x = work(Work::Mixed, count);
        each("muon_transpose", count,
             Transpose<T>{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), matrix, x});
    }
    T* gram = work(Work::Gram, square);
    T* polynomial = work(Work::Polynomial, square);
    // A value of the device that the next kernel reads: its own slot, since a reduction uses Work::Reduction.
    auto* squares = static_cast<double*>(context_.workspace(Work::Columns, sizeof(double)));
    reduce("muon_norm", count, Dot<T>{x, x}, Store{squares});
    each("muon_normalise", count, Normalise<T>{squares, x});
    T* from = x;
    T* to = product;
    for (int round = 0; round < Muon::rounds; ++round) {
        gemm_.multiply({Form::Nt, m, m, n, {from, n}, {from, n}, {gram, m}});
        copy_values(square, gram, polynomial);
        gemm_.multiply({Form::Nn,
                        m,
                        m,
                        m,
                        {gram, m},
                        {gram, m},
                        {polynomial, m},
                        1,
                        static_cast<T>(Muon::c),
                        static_cast<T>(Muon::b)});
        copy_values(count, from, to);
        gemm_.multiply(
            {Form::Nn, m, n, m, {polynomial, m}, {from, n}, {to, n}, 1, T(1), static_cast<T>(Muon::a)});
        std::swap(from, to);
    }
    if (tall)
        each("muon_transpose", count,
             Transpose<T>{static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), from, matrix});
    else if (from != matrix)
        copy_values(count, from, matrix);
}

template <class T>
void CudaStepOps<T>::muon(int rows, int columns, bool decays, const OptimizerNumbers* n, const double* clip,
                          const T* g, T* p, T* m) {
    const std::size_t count = area(rows, columns);
    T* direction = work(Work::Matrix, count);
    each("muon_momentum", count, MuonMomentum<T>{clip, g, m, direction});
    orthogonalise(rows, columns, direction);
    const double scale = std::sqrt(std::max(1.0, static_cast<double>(rows) / columns));
    each("muon_update", count, MuonUpdate<T>{n, clip, decays, scale, direction, p});
}

}  // namespace normscope::cuda
