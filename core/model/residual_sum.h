// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

namespace normscope {

/// The two parts of a sub-layer's sum z = shortcut + branch (scheme.h), taken from the tape of a finished
/// pass. Sub-layers count as in sublayer.h, rows as in the tape; `model` holds the parameters and numerics of
/// the tape. `out` and `gradient` are in device memory.

/// The contribution of the branch of `sublayer` to the stream, Δt·b·λ∘y times the value of a gate at the
/// branch, at `rows` rows from `first_row` on: out [rows, d].
template <class T>
void branch_rows(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows,
                 T* out);

/// The factor of the shortcut on the gradient from the sum to h_k: a, times the factor of a gate at the
/// shortcut or the input (1 where its stop-gradient is honoured). 1 for the feed-forward sub-layer of a
/// parallel layer, whose shortcut is attention's.
template <class T>
double backward_shortcut_factor(const Transformer<T>& model, int sublayer);

/// The factor of a gate at the output on the gradient (1 where its stop-gradient is honoured), and 1 without
/// one.
template <class T>
double backward_output_factor(const Transformer<T>& model, int sublayer);

/// The gradient at the sum, from the gradient at h_{k+1}, [rows, d] each: through a gate at the output and a
/// post norm. `gradient` and `out` begin at `first_row`; they may be the same.
template <class T>
void gradient_at_sum(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows,
                     const T* gradient, T* out);

}  // namespace normscope
