// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/model/pass.h"
#include "core/model/tape.h"

namespace normscope {

/// Multi-head attention, f(u) = concat_h(P_h V_g) W^Oᵀ + b^O with P_h = softmax(Q_h K_gᵀ / (τ√d_h)), rows
/// masked to the past in a causal stack; g = ⌊h·kv_heads/heads⌋ is the key and value head of head h. Where
/// the stack has them, norms stand on q and k (over each head with one weight for all, or over the whole
/// projection), then rotary positions. All matrices row-major; R = sequences·n rows of the shard. Every
/// function works on the shard's rows of the tape and may run beside others on different shards.

template <class T>
struct AttentionScratch {
    std::vector<T> mixed, qkv, scores, turned;
};

/// u: [R, d] of the shard -> tape.f.
template <class T>
void attention_forward(const Pass<T>&, const AttentionOffsets&, Shard, int n, const T* u, const SublayerTape<T>&,
                       AttentionScratch<T>&);

/// df: [directions, R, d] -> du of the same shape (overwritten). Adds to `gradients` (the parameter arena's twin) unless null.
template <class T>
void attention_backward(const Pass<T>&, const AttentionOffsets&, Shard, int n, const T* u, const SublayerTape<T>&,
                        const T* df, T* du, T* gradients, AttentionScratch<T>&);

/// Directional derivatives at one sequence: K directions that touch only the tokens first_token … n − 1 (m of them).
/// tu: [K, m, d] -> tf: [K, m, d]. In a stack that is not causal first_token must be 0.
template <class T>
void attention_tangent(const Pass<T>&, const AttentionOffsets&, int sequence, int n, int first_token, int directions,
                       const SublayerTape<T>&, const T* tu, T* tf, AttentionScratch<T>&);

}  // namespace normscope
