// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/pass.h"
#include "core/model/tape.h"

namespace normscope {

/// Multi-head attention, f(u) = concat_h(P_h V_g) W^Oᵀ + b^O: one operation of the device
/// (LayerOps::attention_forward), with the stack's shapes, weights and tape. R = sequences·n rows of the
/// shard. Every function works on the shard's rows of the tape and may run concurrently on different shards.

/// Whether the stack's window hides a token of a sequence of `length` tokens.
bool hides(const StackSpec& spec, int length);

/// Whether a pass over sequences of `length` tokens keeps the probabilities, whoever reads them: where the
/// device needs them, under a soft cap of the scores, and where a window hides a token.
template <class T>
bool needs_probabilities(const LayerOps<T>&, const StackSpec&, int length);

/// u: [R, d] of the shard -> tape.f.
template <class T>
void attention_forward(const Pass<T>&, const AttentionOffsets&, Shard, int n, const T* u,
                       const SublayerTape<T>&);

/// df: [directions, R, d] -> du of the same shape (overwritten). Adds to `gradients` (the parameter arena's
/// twin) unless null. begun: b^O's gradient is there already.
template <class T>
void attention_backward(const Pass<T>&, const AttentionOffsets&, Shard, int n, const T* u,
                        const SublayerTape<T>&, const T* df, T* du, T* gradients, bool begun = false);

/// Directional derivatives at one sequence: K directions that touch only the tokens first_token … n − 1 (m of
/// them). tu: [K, m, d] -> tf: [K, m, d]. In a stack that is not causal first_token must be 0.
template <class T>
void attention_tangent(const Pass<T>&, const AttentionOffsets&, int sequence, int n, int first_token,
                       int directions, const SublayerTape<T>&, const T* tu, T* tf);

}  // namespace normscope
