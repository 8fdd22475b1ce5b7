// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/model/attention.h"
#include "core/model/feed_forward.h"
#include "core/model/pass.h"
#include "core/model/tape.h"
#include "core/stack/scheme.h"

namespace normscope {

/// One sub-layer in the one form of scheme.h, around attention or the feed-forward map; the gates of GPAS stand on the
/// shortcut or at the output. Sub-layers count from 0: 2l is layer l's attention, 2l + 1 its feed-forward map.

/// Buffers of one thread; grown on first use, then reused.
template <class T>
struct SublayerScratch {
    std::vector<T> a, b, c, d, wide;
    AttentionScratch<T> attention;
};

/// Where the gradients at a sub-layer's norm outputs go, [R, d] of the whole batch each; null where not wanted.
template <class T>
struct NormOutputGradients {
    T* in = nullptr;
    T* out = nullptr;
    T* post = nullptr;
};

/// tape.hidden[index] -> tape.hidden[index + 1] on the shard's rows.
template <class T>
void sublayer_forward(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&, SublayerScratch<T>&);

/// gradient: [directions, R, d] of the shard, ∂/∂h_{index+1} on entry, ∂/∂h_{index} on return. Adds parameter gradients
/// to `gradients` unless null; with more than one direction that and the noted gradients must be null.
template <class T>
void sublayer_backward(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&, Jacobian, T* gradient,
                       T* gradients, const NormOutputGradients<T>&, SublayerScratch<T>&);

/// K directions at the tokens first_token … n − 1 of one sequence; tangent: [K, m, d], replaced by its image.
template <class T>
void sublayer_tangent(const Pass<T>&, int index, const SublayerRule&, int sequence, int first_token, int directions,
                      const Tape<T>&, Jacobian, T* tangent, SublayerScratch<T>&);

}  // namespace normscope
