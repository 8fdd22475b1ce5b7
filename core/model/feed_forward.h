// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/pass.h"
#include "core/model/tape.h"

namespace normscope {

/// The feed-forward map, token by token: f(u) = φ(u W₁ᵀ + b₁) W₂ᵀ + b₂; with SwiGLU
/// f(u) = (SiLU(u W_gateᵀ + b_gate) ∘ (u W_upᵀ + b_up)) W_downᵀ + b_down. Conventions as in attention.h.

template <class T>
void feed_forward_forward(const Pass<T>&, const FeedForwardOffsets&, Shard, int n, const T* u,
                          const SublayerTape<T>&);

/// df: [directions, R, d] -> du of the same shape (overwritten). Adds to `gradients` unless null;
/// begun: the last bias' gradient is there already.
template <class T>
void feed_forward_backward(const Pass<T>&, const FeedForwardOffsets&, Shard, int n, const T* u,
                           const SublayerTape<T>&, const T* df, T* du, T* gradients, bool begun = false);

/// tu: [K, m, d] -> tf: [K, m, d] for the tokens first_token … n − 1 of one sequence.
template <class T>
void feed_forward_tangent(const Pass<T>&, const FeedForwardOffsets&, int sequence, int n, int first_token,
                          int directions, const SublayerTape<T>&, const T* tu, T* tf);

}  // namespace normscope
