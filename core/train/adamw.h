// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/cpu/thread_pool.h"
#include "core/model/parameters.h"
#include "core/train/train_spec.h"

namespace normscope {

/// AdamW over the arena, exactly PyTorch's: decoupled decay on tensors of two or more dimensions (embeddings
/// included), bias corrections, ε outside the root.
template <class T>
class AdamW {
  public:
    explicit AdamW(const ParameterTable& table) : table_(table), m_(table.size()), v_(table.size()) {}

    /// One step on the parameters at rate lr; `gradient_scale` is the clipping factor. Frozen tensors stay as they are.
    void step(const OptimizerSpec&, double lr, double gradient_scale, const T* gradients, T* parameters, ThreadPool&);

    std::int64_t steps = 0;  ///< taken so far
    std::vector<T>& moment1() { return m_; }
    std::vector<T>& moment2() { return v_; }
    const std::vector<T>& moment1() const { return m_; }
    const std::vector<T>& moment2() const { return v_; }

  private:
    const ParameterTable& table_;
    std::vector<T> m_, v_;
};

/// ‖g‖₂ over the arena's tensors that are learnt, summed per tensor in float64: the same on any number of threads.
template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool&);

/// min(1, clip/(norm + 1e-6)) as torch.nn.utils.clip_grad_norm_; 1 when clip is 0.
double clip_factor(double norm, double clip);

}  // namespace normscope
