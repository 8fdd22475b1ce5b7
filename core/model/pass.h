// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/compact_ops.h"
#include "core/backend/device.h"
#include "core/backend/pass_ops.h"
#include "core/model/norm_site.h"
#include "core/model/parameters.h"
#include "core/stack/stack_spec.h"

namespace normscope {

/// Rows of the batch that one worker works on: whole sequences, split by the shape alone.
struct Shard {
    int first_sequence = 0, sequences = 0;
    /// A VJP may apply to several directions at the same rows of the tape: its gradients are then
    /// [directions, R, d]. Parameter gradients are defined for one direction only.
    int directions = 1;
};

/// The inputs common to all parts of a pass: the stack, its parameters and coefficients, and the operations.
/// All addresses are the device's.
template <class T>
struct Pass {
    const StackSpec& spec;
    const ParameterTable& table;
    Device& device;
    LayerOps<T>& layers;
    ElementwiseOps<T>& elementwise;
    const T* parameters;
    const T* transposed;  ///< Tape::transposed, or null: the linear layers use the stored weights
    const T* angles;      ///< of rotary positions (rope_table.h); null without them
    const PassCoefficients<T>* whole;
    const SublayerCoefficients<T>* sublayers;      ///< [2D]
    const T* eps;                                  ///< of every norm, by eps_index()
    bool fresh_gradients = false;                  ///< the blocks' weight gradients are uninitialised
    CompactOps<T>* compact = nullptr;              ///< of a step whose tape is in 16 bits
    std::uint16_t* short_gradients = nullptr;      ///< of the blocks' matrices, there
    const std::uint16_t* short_weights = nullptr;  ///< CompactOps::prepare() of all parameters, there

    const T* angles_of(const AttentionOffsets& at) const { return angles ? angles + at.angles : nullptr; }
    const T* at(std::size_t offset) const { return offset == kAbsent ? nullptr : parameters + offset; }
    LinearWeights<T> linear(std::size_t weight, std::size_t bias = kAbsent) const {
        return {parameters + weight, transposed ? transposed + weight : nullptr, at(bias)};
    }
    ShortLinear short_linear(std::size_t weight, std::size_t bias = kAbsent) const {
        return {short_weights + weight, bias == kAbsent ? nullptr : short_weights + bias};
    }
    const T* eps_at(NormSite::Place place, int sublayer = -1) const {
        return eps + eps_index(place, sublayer, 2 * spec.depth);
    }
    NormRows<T> norm(const NormOffsets& norm, int rows, const T* x, NormStatistics<T> statistics) const {
        return {norm.kind, rows, spec.d_model, x, statistics, at(norm.weight), at(norm.bias)};
    }
};

/// A location in an optional gradient buffer.
template <class T>
inline T* gradient_at(T* gradients, std::size_t offset) {
    return gradients && offset != kAbsent ? gradients + offset : nullptr;
}

}  // namespace normscope
