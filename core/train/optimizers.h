// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/device.h"
#include "core/backend/step_ops.h"
#include "core/model/parameters.h"
#include "core/recipe/train_spec.h"

#include <cstdint>
#include <vector>

namespace normscope {

/// Whether the optimizer is adamw, adam or muon, which divide a gradient by its size: their ε and β₂ act.
bool divides_by_size(OptimizerKind kind);
/// Whether the optimizer keeps second moments of the tensor's entries and divides each by its own.
bool divides_entries(OptimizerKind kind, const TensorInfo& tensor);

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
    /// `table` must outlive it. The moments are allocated at the first step.
    Optimizer(const ParameterTable& table, OptimizerKind kind, Device& device = cpu_device());

    /// One step on the parameters; *clip is the clipping factor (kNoUpdate: nothing is changed). All
    /// addresses are of the device. Frozen tensors are not changed.
    void step(const OptimizerNumbers*, const double* clip, const T* gradients, T* parameters, ThreadPool&);
    /// The same as step number t, from 1 on, with rate and factor on the host. The spec's kind must be that
    /// of the constructor.
    void step(std::int64_t t, const OptimizerSpec&, double lr, double clip, const T* gradients, T* parameters,
              ThreadPool&);

    /// Arenas laid out by the table, on the host. moment1 is the momentum of sgd and muon; moment2 is empty
    /// under sgd. Of a restricted optimizer those of its entries.
    std::vector<T> moment1() const;
    std::vector<T> moment2() const;
    bool has_second() const { return kind_ != OptimizerKind::Sgd; }
    /// Moments of the whole arena. Throws InputError when the sizes are not this optimizer's.
    void set_moments(const std::vector<T>& moment1, const std::vector<T>& moment2);

    /// The ends of so many parts of the arena, about equal; what is updated as a whole is in one part.
    std::vector<std::size_t> part_ends(int parts) const;
    /// Before the first step: to the entries from `begin` to `end`, two of part_ends(). It keeps the moments
    /// of these alone, and a step changes no other entry.
    void restrict_to(std::size_t begin, std::size_t end);
    /// Whether it has allocated them.
    bool has_moments() const { return has_moments_; }
    /// In device memory, of its entries.
    T* device_moment1() { return m_.data(); }
    T* device_moment2() { return v_.data(); }

  private:
    void make_moments();
    /// Of the tensors whose entries are updated one by one.
    std::vector<ArenaPiece> all_pieces() const;

    const ParameterTable& table_;
    OptimizerKind kind_;
    Device& device_;
    std::size_t begin_ = 0, end_;              ///< of its entries
    Buffer<ArenaPiece> pieces_;                ///< all_pieces() of its entries, from begin_ on
    std::vector<const TensorInfo*> matrices_;  ///< updated as a whole
    bool has_moments_ = false;
    Buffer<T> m_, v_;
};

/// ‖g‖₂ over the arena's tensors that are learned, summed per tensor in float64: the same on any number of
/// threads.
template <class T>
class TrainableNorm {
  public:
    TrainableNorm(const ParameterTable& table, Device& device);
    /// The squares of the trained tensors' gradients, and where their norm goes; all of the device. They are
    /// valid until the next call.
    GradientSquares squares(const T* gradients, double* norm, ThreadPool&);

  private:
    Device& device_;
    Buffer<ArenaPiece> tensors_;
    Buffer<double> squares_;
};

/// The same once, and the norm on the host.
template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool&,
                     Device& device = cpu_device());

}  // namespace normscope
