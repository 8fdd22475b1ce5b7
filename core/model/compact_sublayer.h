// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/pass.h"
#include "core/model/tape.h"

namespace normscope {

/// What of the tape of a training step with sequences of this length is in 16 bits: as much as the operations
/// of its precision (null: none) and the shape of the stack allow. Rows and the tensors that products read
/// begin at multiples of CompactOps::kRow entries.
template <class T>
CompactParts compact_parts(const StackSpec&, const ParameterTable&, const CompactOps<T>*, int length);

// f of a sub-layer (attention or the feed-forward map, by its index) with its tape in 16 bits
// (core/backend/compact_ops.h). The shard is the whole tape, with one direction.

/// u [R, d] → tape.compact and f [R, d]. u null: the tape's input is there already.
template <class T>
void compact_forward(const Pass<T>&, int index, Shard, int n, const T* u, const SublayerTape<T>&,
                     const CompactRows<T>& f);

/// With *factor·dy as the gradient at f (null: 1), or with df where that is not null → du. The gradients of
/// weights are written to Pass::short_gradients, those of biases added to `gradients`.
template <class T>
void compact_backward(const Pass<T>&, int index, Shard, int n, const SublayerTape<T>&, const T* factor,
                      const T* dy, const std::uint16_t* df, const CompactRows<T>& du, T* gradients);

}  // namespace normscope
