// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/thread_pool.h"
#include "core/model/parameters.h"
#include "core/recipe/train_spec.h"

#include <cstdint>
#include <vector>

namespace normscope {

/// The optimizers of a recipe, over the arena. g is the gradient after clipping, lr the schedule's rate.
///
/// adamw  PyTorch's AdamW: decoupled decay p ← p·(1 − lr·wd) on tensors of two or more dimensions (embeddings
///        included), bias corrections, ε outside the root.
/// adam   PyTorch's Adam with one group, as GPAS trains: wd·p is added to the gradient of every tensor.
/// sgd    PyTorch's SGD with one group: g ← g + wd·p, m ← β₁m + g, p ← p − lr·m; betas[0] is the momentum.
/// muon   the matrices of the layers: m ← μm + (1 − μ)g, then p ← p·(1 − lr·wd) − lr·√max(1, rows/columns)·O,
/// where O
///        is the orthogonalised Nesterov direction μm + (1 − μ)g; every other tensor: adamw. After Keller
///        Jordan's reference (github.com/KellerJordan/Muon), with two differences: the iteration runs in the
///        precision of T instead of BF16, and one learning rate serves both groups, since a recipe has one.
template <class T>
class Optimizer {
  public:
    Optimizer(const ParameterTable& table, OptimizerKind kind);

    /// One step on the parameters at rate lr; `gradient_scale` is the clipping factor. The spec's kind must
    /// be that of the constructor; its numbers may change from step to step. Frozen tensors stay as they are.
    void step(const OptimizerSpec&, double lr, double gradient_scale, const T* gradients, T* parameters,
              ThreadPool&);

    std::int64_t steps = 0;  ///< taken so far
    /// Arenas laid out by the table. moment1 is the momentum of sgd and muon; moment2 is empty under sgd.
    const std::vector<T>& moment1() const { return m_; }
    const std::vector<T>& moment2() const { return v_; }
    /// Throws InputError when the sizes are not this optimizer's.
    void set_moments(const std::vector<T>& moment1, const std::vector<T>& moment2);

  private:
    /// What one thread updates at a time: a stretch of one tensor, or the whole of it.
    struct Piece {
        const TensorInfo* tensor;
        std::size_t offset, count;  ///< in the arena
    };

    const ParameterTable& table_;
    OptimizerKind kind_;
    std::vector<Piece> pieces_;
    std::vector<T> m_, v_;
};

/// Muon's constants: the quintic iteration X ← aX + (bA + cA²)X with A = XXᵀ has its greatest slope at 0 for
/// these, so five rounds bring every singular value of a matrix of norm 1 that is not tiny to about 0.68
/// … 1.14.
struct Muon {
    static constexpr double momentum = 0.95, a = 3.4445, b = -4.7750, c = 2.0315, tiny = 1e-7;
    static constexpr int rounds = 5;
};

/// Replaces a row-major [rows, columns] matrix by the result of Muon's Newton–Schulz iteration: about U·Vᵀ of
/// its singular value decomposition. A zero matrix stays zero.
template <class T>
void orthogonalise(int rows, int columns, std::vector<T>& matrix);

/// ‖g‖₂ over the arena's tensors that are learnt, summed per tensor in float64: the same on any number of
/// threads.
template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool&);

/// min(1, clip/(norm + 1e-6)) as torch.nn.utils.clip_grad_norm_; 1 when clip is 0.
double clip_factor(double norm, double clip);

}  // namespace normscope
