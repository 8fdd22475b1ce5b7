// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/pass_ops.h"

#include <cstddef>
#include <cstdint>

namespace normscope {

// A training step in BF16 or FP16 under autocast, with a tape in 16 bits. Of a sub-layer all that lies
// between its input and its output, and the logits, are operands or results of products: rounded to the
// format anyway, they are stored in it, and a product reads and writes nothing else. What is added up (hidden
// states and their gradients, weights and theirs) stays float32.
//
// Addresses are the device's, as in pass_ops.h. Rows are dense. Results are those of LayerOps and
// ElementwiseOps under autocast, bit for bit where those sum in the same order; the softmax of the loss is
// summed in another one.

/// What one sub-layer keeps of its forward pass. R rows.
struct CompactTape {
    std::uint16_t* input = nullptr;  ///< [R, d] u, the operand of the first product
    std::uint16_t* wide = nullptr;   ///< [R, AttentionShape::width()] queries, keys and values as the scores
                                     ///< read them; [R, d_ff] before the activation, or [R, 2·d_ff] (SwiGLU)
    std::uint16_t* narrow = nullptr;  ///< [R, d_q] outputs of the heads; [R, d_ff] after the activation
};
/// What the head keeps.
struct CompactHead {
    std::uint16_t* input = nullptr;   ///< [R, d]
    std::uint16_t* weight = nullptr;  ///< [classes(V), d]: W, then rows of zeros; null where the weights'
                                      ///< copy serves, since classes(V) is V
    std::uint16_t* logits = nullptr;  ///< [R, classes(V)], then their gradient
};

/// W [out, in] and bias [out] or null.
struct ShortLinear {
    const std::uint16_t *weight, *bias;
};

template <class T>
struct CompactAttention {
    AttentionShape shape;  ///< without norms on queries and keys
    int sequences;
    ShortLinear qkv, out;
    const T* angles;  ///< AttentionWeights::angles
    const T* scale;   ///< of the scores
    T* row_softmax;   ///< AttentionTape::row_softmax
};
struct CompactFeedForward {
    Activation activation;
    int R, d, d_ff;
    ShortLinear first, second;
    int wide() const { return is_gated(activation) ? 2 * d_ff : d_ff; }
};
/// Where the gradients of a linear layer go: the weight's is overwritten, the bias' (null: none) added to.
template <class T>
struct CompactLinearGradients {
    std::uint16_t* weight;
    T* bias;
};

template <class T>
class CompactOps {
  public:
    /// Rows have a multiple of this many entries, and tensors begin at one: 16 bytes.
    static constexpr std::size_t kRow = 8;
    /// Columns of the logits: V, then columns without a class.
    static constexpr int classes(int V) {
        constexpr int row = static_cast<int>(kRow);
        return (V + row - 1) / row * row;
    }

    virtual ~CompactOps() = default;
    /// Whether attention of this shape can be computed so.
    virtual bool takes(const AttentionShape& shape) const = 0;
    /// The weights' copy that products read; count is a multiple of kRow. And ElementwiseOps::zero.
    virtual void prepare(std::size_t count, const T* weights, std::uint16_t* to, const ArenaPiece* pieces,
                         int piece_count, T* arena, int others, double* numbers) = 0;

    /// LayerOps::norm_forward with the result as the operand of a product.
    virtual void norm_forward(const NormRows<T>&, const T* eps, const T* scale, std::uint16_t* y) = 0;
    /// LayerOps::residual_norm with f or y in 16 bits, or both.
    virtual void residual_norm(const NormRows<T>&, const T* eps, const T* scale, const T* a, const T* x,
                               const T* b, const CompactRows<const T>& f, T* z, const CompactRows<T>& y,
                               double* squares) = 0;
    /// LayerOps::embedding_norm.
    virtual void embedding_norm(int sequences, int length, const std::int32_t* tokens, const T* table,
                                const T* positions, T* x, const NormRows<T>&, const T* eps, const T* scale,
                                std::uint16_t* y, double* squares) = 0;
    /// LayerOps::norm_vjp with before.rows in 16 bits, and dy in either place.
    virtual void norm_vjp(const NormRows<T>&, const CompactRows<const T>& dy, const T* scale, bool add, T* dx,
                          T* dgamma, T* dbeta, double* squares, const BranchGradient<T>& before) = 0;
    /// ElementwiseOps::axpby; count is a multiple of kRow.
    virtual void axpby(std::size_t count, const T* a, const T* x, const T* b, const std::uint16_t* y,
                       T* out) = 0;

    /// u [R, d] → tape, f. u null: the tape's input is there already.
    virtual void attention_forward(const CompactAttention<T>&, const T* u, const CompactTape&,
                                   const CompactRows<T>& f) = 0;
    /// With *factor·dy [R, d] as the gradient at f (null: 1) → du and the gradients of both linear layers. df
    /// not null: that gradient is there, and so is that of the bias of `out`; dy is not read.
    virtual void attention_vjp(const CompactAttention<T>&, const CompactTape&, const T* factor, const T* dy,
                               const std::uint16_t* df, const CompactRows<T>& du,
                               const CompactLinearGradients<T>& qkv,
                               const CompactLinearGradients<T>& out) = 0;
    virtual void feed_forward_forward(const CompactFeedForward&, const T* u, const CompactTape&,
                                      const CompactRows<T>& f) = 0;
    /// As attention_vjp().
    virtual void feed_forward_vjp(const CompactFeedForward&, const CompactTape&, const T* factor, const T* dy,
                                  const std::uint16_t* df, const CompactRows<T>& du,
                                  const CompactLinearGradients<T>& first,
                                  const CompactLinearGradients<T>& second) = 0;
    /// The weights' gradients in float32 at the pieces of an arena, which begin and end at multiples of kRow:
    /// written where `fresh`, else added.
    virtual void add_gradients(const ArenaPiece* pieces, int count, bool fresh, const std::uint16_t* from,
                               T* to) = 0;

    /// x [R, d] → the logits x·Wᵀ, W [V, d]. x null: the head's input is there already.
    virtual void head_forward(int R, int V, int d, const T* x, const std::uint16_t* weight,
                              const CompactHead&) = 0;
    /// ElementwiseOps::cross_entropy of the logits, whose place their gradient takes → dx [R, d]; its
    /// products with x are added to dweight [V, d], or written there in 16 bits where classes(V) is V.
    virtual void head_vjp(int R, int V, int d, const std::uint16_t* weight, const CompactHead&,
                          const std::int32_t* targets, const T* scale, T z, T* losses,
                          const CompactRows<T>& dx, const CompactRows<T>& dweight) = 0;
};

}  // namespace normscope
