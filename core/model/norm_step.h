// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/pass.h"
#include "core/model/tape.h"

#include <optional>

namespace normscope {

/// A norm of a forward pass and where its result goes: to the operand of a product in a tape in 16 bits, else
/// to rows in float32.
template <class T>
struct NormStep {
    NormRows<T> rows;
    const T *eps, *scale;
    CompactRows<T> to;
};

/// The norm that sub-layer `index` begins with, where its input is tape.hidden[index] and nothing lies
/// between; also on the shard's rows. It can be computed with that state.
template <class T>
std::optional<NormStep<T>> first_norm(const Pass<T>&, int index, const SublayerRule&, Shard, const Tape<T>&);

/// The final norm; none in a stack without one.
template <class T>
std::optional<NormStep<T>> final_norm(const Pass<T>&, Shard, const Tape<T>&);

template <class T>
void apply_norm(const Pass<T>&, const NormStep<T>&);

/// z = a·x + b·f, rows [R, d], the norm of z unless that is null, and *squares += Σ z² unless null. f: in one
/// of its two places.
template <class T>
void residual_sum(const Pass<T>&, int R, const T* a, const T* x, const T* b, const CompactRows<const T>& f,
                  T* z, const NormStep<T>* norm, double* squares);

}  // namespace normscope
