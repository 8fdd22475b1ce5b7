// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

namespace normscope {

/// A GPT-2 stack in plain loops over float64, forward only: a second opinion on the engine's passes, to be
/// differenced. sg(·) of the gates can be recorded at one point and held there at others: the derivative of
/// that surrogate is what back-propagation under stop-gradient computes, while that of the forward map itself
/// is not.
class PlainModel {
  public:
    using Vector = std::vector<double>;  ///< [n, d] of one sequence, or parameters in the engine's arena

    /// Weights, Δt, τ and ε of `model`.
    explicit PlainModel(const Transformer<double>& model);

    Vector parameters;

    struct Pass {
        std::vector<Vector> hidden;  ///< 2D+1 of [n, d]
        double loss = 0;             ///< mean cross-entropy of the sequence
    };
    /// tokens, targets [n]; `shift` [n, d] is added to hidden[0] (empty: nothing).
    Pass run(const std::vector<int>& tokens, const std::vector<int>& targets, const Vector& shift = {});

    /// From now on sg(x) of every gate is a constant: what it was in a pass at the present parameters.
    void hold_stopped(const std::vector<int>& tokens, const std::vector<int>& targets);

    /// The feed-forward sub-layer's own map in a parallel layer: attention's branch is held at its value at
    /// x.
    Vector feed_forward_alone(int layer, const Vector& x, const Vector& held_at);

  private:
    Vector tensor(const std::string& name) const;
    Vector normed(const Vector& x, const std::string& name) const;
    Vector linear(const Vector& x, const std::string& weight, const std::string& bias, int out, int in) const;
    Vector attention(const Vector& u, const std::string& at) const;
    Vector feed_forward(const Vector& u, const std::string& at) const;
    Vector gated(GateSite site, int index, const Vector& x);
    Vector branch(int index, const Vector& x);
    Vector leave(int index, const Vector& z);

    const StackSpec spec_;
    const ParameterTable& table_;
    const std::vector<SublayerRule>& rules_;
    const Numerics numerics_;
    bool holding_ = false, recording_ = false;
    std::vector<Vector> stopped_;
    std::size_t next_ = 0;
};

}  // namespace normscope
