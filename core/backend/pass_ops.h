// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/arena_piece.h"
#include "core/backend/coefficients.h"
#include "core/backend/shared/low_precision.h"
#include "core/stack/stack_spec.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace normscope {

// The operations of a pass, over a device's memory, in two classes: LayerOps, the layers that have weights,
// and ElementwiseOps, what lies between them. Those of a training step are in step_ops.h.
//
// Every pointer is an address of the device that the operations belong to, also those to scalars
// (coefficients, results of sums): nothing is read on the host, and the host reads results between passes
// (HostView). A null pointer to a coefficient means 1, a null gradient is not computed; other pointers may be
// null only where stated. Sizes and kinds are host values: they follow from the shape of a stack.
//
// Matrices are row-major and dense. R counts rows (tokens), d columns. Outputs may alias inputs only where
// stated.
//
// Calls are made in the order in which their results are needed, from the threads of Device::run; two calls,
// of whichever class, may run concurrently where neither writes what the other reads or writes. The result
// for a row does not depend on the other rows, and the same call gives the same bits every time. Sums over
// rows (gradients) add rows in order. A call may return before it is done; non-finite values are no error and
// propagate.

/// The statistics a norm keeps from its forward pass, [rows] each.
template <class T>
struct NormStatistics {
    T* mean;  ///< 0 for RMSNorm
    T* rstd;  ///< 1/σ_ε
    NormStatistics from(std::size_t row) const { return {mean + row, rstd + row}; }
};

/// One norm over rows [rows, d]: y = γ∘(x − mean)·rstd + β. γ [d], followed by the kind's own parameters
/// (norm_kind.h), in gradients too; β [d] or null.
template <class T>
struct NormRows {
    NormKind kind;
    int rows, d;
    const T* x;
    NormStatistics<T> statistics;
    const T* gamma;
    const T* beta;
};

/// Rows [R, d] around a sub-layer's map in one of two places: in float32, or in 16 bits where only an
/// operation of CompactOps (compact_ops.h) reads them.
template <class T>
struct CompactRows {
    using Short = std::conditional_t<std::is_const_v<T>, const std::uint16_t, std::uint16_t>;
    T* floats = nullptr;
    Short* shorts = nullptr;
    explicit operator bool() const { return floats || shorts; }
};
/// The gradient at the output of a sub-layer's map, rows = *factor·(the gradient at the residual sum); sums
/// [d], the gradient of the map's last bias, or null, += column_sums of the rows. No rows: none of that.
template <class T>
struct BranchGradient {
    const T* factor = nullptr;
    CompactRows<T> rows;
    T* sums = nullptr;
};

/// How one attention map is built. q, k and v are consecutive in rows of d_q + 2·d_kv; head h reads the
/// key and value head h·kv_heads/heads.
struct AttentionShape {
    int d;  ///< of the rows that attention reads and writes
    int heads, kv_heads, head_width;
    int n;  ///< tokens a sequence
    bool causal;
    QkNorm qk_norm;
    NormKind norm;   ///< of q and k
    int window = 0;  ///< causal: keys of a row, the last ones, its own included; 0: all. Stored maps only
    double soft_cap = 0;  ///< c: the scaled scores s are c·tanh(s/c) before softmax; 0: none
    int d_q() const { return heads * head_width; }
    int d_kv() const { return kv_heads * head_width; }
    int width() const { return d_q() + 2 * d_kv(); }
};

/// W [out, in], its transpose [in, out] (null where LayerOps::prefers_transposed() is false or none was
/// made), bias [out] or null.
template <class T>
struct LinearWeights {
    const T* weight;
    const T* transposed;
    const T* bias;
};

template <class T>
struct AttentionWeights {
    LinearWeights<T> qkv, out;  ///< [width, d] and [d, d_q]
    const T *q_norm, *k_norm;   ///< [head_width], or [d_q] and [d_kv] (full); null without qk_norm
    const T* angles;  ///< [n, head_width] cosines and sines (rope_table.h); null without rotary positions
    const T* eps;
    const T* scale;  ///< of the scores
};

/// The tape of attention, from the first sequence of the call on.
template <class T>
struct AttentionTape {
    T* qkv;  ///< [R, width] as the scores read it: q and k normalised and rotated
    T* qk;   ///< [R, d_q + d_kv] q and k as projected, where norms read them; else null
    NormStatistics<T> q_norm, k_norm;  ///< [R, heads] and [R, kv_heads], or [R] each (full)
    T* probabilities;  ///< [sequences, heads, n, n], zero where masked; null where row_softmax is not
    T* mixed;          ///< [R, d_q] heads' outputs, before W^O
    /// [sequences, heads, n, 2]: of each row its largest score and 1/Σ exp(scale·(score − largest)), which
    /// give its probabilities again; null where they are stored.
    T* row_softmax = nullptr;
    /// [sequences, heads, n, n]: with a soft cap, c·tanh(s/c)/scale of the unmasked scores s, and anything at
    /// the others; needs the probabilities.
    T* capped = nullptr;
};

/// Accumulators of the parameters' gradients; shapes as the weights'.
template <class T>
struct AttentionGradients {
    T *wqkv, *bqkv, *wo, *bo, *q_norm, *k_norm;
    bool fresh;  ///< the matrices are uninitialised and are overwritten
};

/// Linear layers, norms, attention and the embedding, with the gradients of their weights.
template <class T>
class LayerOps {
  public:
    virtual ~LayerOps() = default;

    // --- sharding of a step on this device

    /// Whether linear() is faster with transposed weights.
    virtual bool prefers_transposed() const = 0;
    /// The preferred number of rows of one forward and backward pass; a smaller shard is one piece.
    virtual int step_rows() const = 0;
    /// Whether attention with sequences of n tokens and heads of this size needs
    /// AttentionTape::probabilities; else a tape from which they are not read has row_softmax in their place.
    virtual bool needs_probabilities(int /*n*/, int /*head_width*/) const { return true; }

#define NORMSCOPE_OPERATION(name, parameters, names) virtual void name parameters = 0;
#include "core/backend/layer_operations.inc"
};

/// Coefficients, memory, functions of entries, sums over them, and the loss.
template <class T>
class ElementwiseOps {
  public:
    virtual ~ElementwiseOps() = default;

#define NORMSCOPE_OPERATION(name, parameters, names) virtual void name parameters = 0;
#include "core/backend/elementwise_operations.inc"
};

}  // namespace normscope
