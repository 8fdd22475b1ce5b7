// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/attention.h"
#include "core/model/feed_forward.h"
#include "core/model/norm_step.h"
#include "core/model/pass.h"
#include "core/model/tape.h"
#include "core/stack/scheme.h"

namespace normscope {

/// One sub-layer in the one form of scheme.h, around attention or the feed-forward map, with the learnable
/// scale of its branch and the gate of GPAS at any site. Sub-layers count from 0: 2l is layer l's attention,
/// 2l + 1 its feed-forward map.
///
/// In a parallel layer the feed-forward map reads the layer's input, so a signal has a second path around the
/// hidden state between the two sub-layers: `side`, a buffer as large as the signal. In the VJP the
/// feed-forward sub-layer stores there its branch's gradient at the layer's input and attention adds it; in
/// the JVP attention stores its input there and the feed-forward sub-layer reads it. Null means a sub-layer
/// on its own, whose map is then, of the layer's input x: attention x ↦ h'; feed-forward x ↦ the layer's
/// output with attention's branch held at its value. A serial layer ignores `side`.

/// Where the gradients at a sub-layer's norm outputs go, [R, d] of the whole batch each; null if not
/// requested.
template <class T>
struct NormOutputGradients {
    T* in = nullptr;
    T* out = nullptr;
    T* post = nullptr;
};

/// What a sub-layer's backward pass computes besides its result, ∂/∂h_{index}.
template <class T>
struct BackwardLinks {
    double* squares = nullptr;  ///< += Σ of the result's squares
    bool begun = false;         ///< the branch_gradient() of the sub-layer itself is there
    BranchGradient<T> before;   ///< of the sub-layer before, where the last operation gives it
};

/// tape.hidden[index] -> tape.hidden[index + 1] on the shard's rows. begun: its first norm is computed.
/// next: a norm of the result that is computed with it, or null. *squares, unless null, += Σ of the result's
/// squares.
template <class T>
void sublayer_forward(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&,
                      bool begun = false, const NormStep<T>* next = nullptr, double* squares = nullptr);

/// gradient: [directions, R, d] of the shard, ∂/∂h_{index+1} on entry, ∂/∂h_{index} on return. Adds parameter
/// gradients to `gradients` unless null; with more than one direction that, the noted gradients and `links`
/// must be null. True: links.before is computed.
template <class T>
bool sublayer_backward(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&, Jacobian,
                       T* gradient, T* gradients, const NormOutputGradients<T>&, T* side = nullptr,
                       const BackwardLinks<T>& links = {});

/// The gradient of backpropagation at the output of the map of `index`, where that is ∂/∂h_{index+1} times a
/// factor; it can be computed with that. No rows: it is not, or `gradients` is null.
template <class T>
BranchGradient<T> branch_gradient(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&,
                                  T* gradients);

/// K directions at the tokens first_token … n − 1 of one sequence; tangent: [K, m, d], replaced by its image.
template <class T>
void sublayer_tangent(const Pass<T>&, int index, const SublayerRule&, int sequence, int first_token,
                      int directions, const Tape<T>&, Jacobian, T* tangent, T* side = nullptr);

}  // namespace normscope
