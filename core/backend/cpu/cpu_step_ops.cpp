// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_step_ops.h"

#include "core/backend/cpu/kernels/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace normscope {

template <class T>
void CpuStepOps<T>::piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena,
                                  double* squares) {
    for (int i = first; i < end; ++i) {
        const T* g = arena + pieces[i].offset;
        double sum = 0;
        for (std::size_t k = 0; k < pieces[i].count; ++k)
            sum += static_cast<double>(g[k]) * static_cast<double>(g[k]);
        squares[i] = sum;
    }
}
template <class T>
void CpuStepOps<T>::sum_shards(const ArenaPiece* pieces, int first, int end, int count,
                               const T* const* shards, T* total, double* squares) {
    thread_local std::vector<const T*> sources;
    for (int i = first; i < end; ++i) {
        const std::size_t at = pieces[i].offset;
        sources.clear();
        for (int s = 0; s < count; ++s) sources.push_back(shards[s] + at);
        squares[i] = row_kernels<T>().add_up(pieces[i].count, count, sources.data(), total + at);
    }
}
template <class T>
void CpuStepOps<T>::norm_of_squares(int count, const double* squares, const double* divisor, double* norm) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += squares[i];
    *norm = std::sqrt(sum) / (divisor ? *divisor : 1);
}

template <class T>
void CpuStepOps<T>::begin_step(const StepRule& rule, int accumulate, std::int64_t tokens,
                               const StepControl* control, LossFactors<T>* factors, StepReport* report) {
    normscope::begin_step(rule, accumulate, tokens, *control, *factors, *report);
}
template <class T>
void CpuStepOps<T>::add_mean(std::size_t count, const T* x, double divisor, double* sum) {
    *sum += std::accumulate(x, x + count, 0.0) / static_cast<double>(count) / divisor;
}
template <class T>
void CpuStepOps<T>::finalize_step(const StepRule& rule, const StepKnobs* knobs, const StepLosses<T>& losses,
                                  const GradientSquares& squares, StepControl* control, StepReport* report,
                                  OptimizerNumbers* numbers, double* clip) {
    add_mean(losses.count, losses.losses, losses.divisor, &report->loss);
    norm_of_squares(squares.count, squares.squares, squares.divisor, squares.norm);
    normscope::finalize_step(rule, *knobs, *squares.norm, *control, *report, *numbers, *clip);
}

template <class T>
void CpuStepOps<T>::find_first_non_finite(std::size_t count, const T* x, std::int64_t* place) {
    const T* bad = std::find_if_not(x, x + count, [](T v) { return std::isfinite(v); });
    *place = bad == x + count ? -1 : bad - x;
}

template class CpuStepOps<float>;
template class CpuStepOps<double>;

}  // namespace normscope
