// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/coefficients.h"
#include "core/backend/low_precision.h"
#include "core/backend/step_control.h"
#include "core/stack/stack_spec.h"

#include <cstddef>
#include <cstdint>

namespace normscope {

// The operations of a pass, of the optimizer and of reductions, over a device's memory.
//
// Every pointer is an address of the device that the Ops belongs to, also those to scalars (coefficients,
// results of reductions): nothing is read on the host, and the host reads results between passes (HostView).
// A null pointer to a coefficient means 1, a null gradient is not computed; other pointers may be null only
// where stated. Sizes and kinds are host values: they follow from the shape of a stack.
//
// Matrices are row-major and dense. R counts rows (tokens), d columns. Outputs may alias inputs only where
// stated.
//
// Calls are made in the order in which their results are needed, from the threads of Device::run; two calls
// may run concurrently where neither writes what the other reads or writes. The result for a row does not
// depend on the other rows, and the same call gives the same bits every time. Sums over rows (gradients) add
// rows in order. A call may return before it is done; non-finite values are no error and propagate.

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

/// How one attention map is built. q, k and v are consecutive in rows of d + 2·d_kv; head h reads the
/// key and value head h·kv_heads/heads.
struct AttentionShape {
    int d, heads, kv_heads, n;  ///< n: tokens a sequence
    bool causal;
    QkNorm qk_norm;
    NormKind norm;  ///< of q and k
    int d_head() const { return d / heads; }
    int d_kv() const { return d / heads * kv_heads; }
    int width() const { return d + 2 * d_kv(); }
};

/// W [out, in], its transpose [in, out] (null where Ops::wants_transposed() is false or none was made), bias
/// [out] or null.
template <class T>
struct LinearWeights {
    const T* weight;
    const T* transposed;
    const T* bias;
};

template <class T>
struct AttentionWeights {
    LinearWeights<T> qkv, out;  ///< [width, d] and [d, d]
    const T *q_norm, *k_norm;   ///< [d_head], or [d] and [d_kv] (full); null without qk_norm
    const T* angles;  ///< [n, d_head] cosines and sines (rope_table.h); null without rotary positions
    const T* eps;
    const T* scale;  ///< of the scores
};

/// The tape of attention, from the first sequence of the call on.
template <class T>
struct AttentionTape {
    T* qkv;  ///< [R, width] as the scores read it: q and k normalised and rotated
    T* qk;   ///< [R, d + d_kv] q and k as projected, where norms read them; else null
    NormStatistics<T> q_norm, k_norm;  ///< [R, heads] and [R, kv_heads], or [R] each (full)
    T* probabilities;  ///< [sequences, heads, n, n], zero where masked; null where row_softmax is not
    T* mixed;          ///< [R, d] heads' outputs, before W^O
    /// [sequences, heads, n, 2]: of each row its largest score and 1/Σ exp(scale·(score − largest)), which
    /// give its probabilities again; null where they are stored.
    T* row_softmax = nullptr;
};

/// Accumulators of the parameters' gradients; shapes as the weights'.
template <class T>
struct AttentionGradients {
    T *wqkv, *bqkv, *wo, *bo, *q_norm, *k_norm;
    bool fresh;  ///< the matrices are uninitialised and are overwritten
};

/// A contiguous range of the parameters, within one tensor, for an optimizer or a reduction.
struct ArenaPiece {
    std::size_t offset, count;
    bool decays;
};

template <class T>
class Ops {
  public:
    virtual ~Ops() = default;

    // --- sharding of a step on this device

    /// Whether linear() is faster with transposed weights.
    virtual bool wants_transposed() const = 0;
    /// The preferred number of rows of one forward and backward pass; a smaller shard is one piece.
    virtual int step_rows() const = 0;
    /// Whether attention with sequences of n tokens and heads of this size needs
    /// AttentionTape::probabilities; else a tape from which they are not read has row_softmax in their place.
    virtual bool needs_probabilities(int /*n*/, int /*d_head*/) const { return true; }

    // --- coefficients (coefficients.h)

    virtual void pass_coefficients(int sublayers, const CoefficientRule* rules, int d_head,
                                   const Numerics* numbers, const T* parameters, PassCoefficients<T>* pass,
                                   SublayerCoefficients<T>* out) = 0;

    // --- memory

    virtual void copy(std::size_t count, const T* from, T* to) = 0;
    virtual void zero(const ArenaPiece* pieces, int count, T* arena) = 0;

    // --- linear layers

    /// y[R, out] = x[R, in]·Wᵀ + bias.
    virtual void linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) = 0;
    /// dx[R, in] = dy[R, out]·W.
    virtual void linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) = 0;
    /// dW[out, in] = (fresh ? 0 : dW) + dyᵀ[out, R]·x[R, in].
    virtual void linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh,
                                        T* dW) = 0;
    /// sums[d] += Σ_r x[r, :]; a bias' gradient.
    virtual void column_sums(int R, int d, const T* x, T* sums) = 0;
    /// The transpose that linear() reads, [in, out] of W [out, in].
    virtual void transpose_weight(int out, int in, const T* weight, T* transposed) = 0;

    // --- norms. scale: null for 1

    /// y = scale·norm(x), and the statistics.
    virtual void norm_forward(const NormRows<T>&, const T* eps, const T* scale, T* y) = 0;
    /// dx = (add ? dx : 0) + scale·Jᵀdy; dgamma, dbeta += scale·(their gradients). dx may be dy where nothing
    /// is added.
    virtual void norm_vjp(const NormRows<T>&, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                          T* dbeta) = 0;
    /// ty = scale·J tx; ty may be tx. β is not read.
    virtual void norm_jvp(const NormRows<T>&, const T* tx, const T* scale, T* ty) = 0;

    // --- attention including its projections: f(u) = concat_h(P_h V_g) W^Oᵀ + b^O with
    // P_h = softmax(scale·Q_h K_gᵀ), rows masked to the past in a causal stack; norms on q and k, then rotary
    // positions

    /// u [sequences·n, d] → tape, f [sequences·n, d].
    virtual void attention_forward(const AttentionShape&, int sequences, const AttentionWeights<T>&,
                                   const T* u, const AttentionTape<T>&, T* f) = 0;
    /// df [directions, sequences·n, d] → du of the same shape. `gradients` (on the host) is null, or
    /// directions is 1.
    virtual void attention_vjp(const AttentionShape&, int sequences, int directions,
                               const AttentionWeights<T>&, const AttentionTape<T>&, const T* u, const T* df,
                               T* du, const AttentionGradients<T>* gradients) = 0;
    /// At one sequence: `directions` directions that touch only the tokens first_token … n − 1 (m of them; 0
    /// in a stack that is not causal). tu [directions, m, d] → tf of the same shape.
    virtual void attention_jvp(const AttentionShape&, int first_token, int directions,
                               const AttentionWeights<T>&, const AttentionTape<T>&, const T* tu, T* tf) = 0;

    // --- elementwise

    /// a = φ(h) and slope = φ'(h); a may be h.
    virtual void activation(Activation, std::size_t count, const T* h, T* a, T* slope) = 0;
    /// out = x ∘ y; out may be x or y.
    virtual void multiply(std::size_t count, const T* x, const T* y, T* out) = 0;
    /// a = SiLU(g) ∘ u with [g | u] = pre: [R, 2·width], a: [R, width].
    virtual void swiglu(int R, int width, const T* pre, T* a) = 0;
    virtual void swiglu_vjp(int R, int width, const T* pre, const T* da, T* dpre) = 0;
    virtual void swiglu_jvp(int R, int width, const T* pre, const T* tpre, T* ta) = 0;
    /// out = a·x + b·y, a residual sum; out may be x or y.
    virtual void axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) = 0;
    /// out = a·x; out may be x.
    virtual void scale(std::size_t count, const T* a, const T* x, T* out) = 0;
    /// out[r, :] = w ∘ x[r, :]; out may be x.
    virtual void scale_columns(int R, int d, const T* w, const T* x, T* out) = 0;
    /// sums[d] += a·Σ_r x[r, :] ∘ y[r, :].
    virtual void column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) = 0;

    // --- embedding, logits and loss. tokens, targets [sequences, length]

    /// x[r, :] = table[tokens[r], :] + positions[r mod length, :]; positions may be null.
    virtual void embedding_forward(int sequences, int length, int d, const std::int32_t* tokens,
                                   const T* table, const T* positions, T* x) = 0;
    /// Adds the rows of dx to the rows of the tables' gradients, [vocab, d] and [context, d]; dpositions may
    /// be null.
    virtual void embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx,
                               int vocab, T* dtable, int context, T* dpositions) = 0;
    /// x = cap·tanh(x/cap), in place.
    virtual void soft_cap(std::size_t count, T cap, T* x) = 0;
    /// out = g ∘ ∂(soft cap) where it gave y; out may be g.
    virtual void soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) = 0;
    /// losses[R] = cross-entropy of logits [R, V], in nat. If dlogits is not null (it may be logits) also
    /// scale·∂(cross-entropy + z·(log Σ exp)²); scale is read only then.
    virtual void cross_entropy(int R, int V, const T* logits, const std::int32_t* targets, const T* scale,
                               T z, T* losses, T* dlogits) = 0;

    // --- reductions, in float64 and in a fixed order

    /// *out += factor·Σ x∘y, the sum in float64: the gradient of a gate or of a branch's scale.
    virtual void add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) = 0;
    /// *out += Σ x².
    virtual void add_squares(std::size_t count, const T* x, double* out) = 0;
    /// squares[i] = Σ g² of each piece, pieces first … end − 1.
    virtual void piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena,
                               double* squares) = 0;
    /// total = Σ_s shards[s], shards in order, at the pieces first … end − 1, and squares[i] = Σ total² of
    /// each. shards is a host array of device addresses; total may be shards[0].
    virtual void sum_shards(const ArenaPiece* pieces, int first, int end, int count, const T* const* shards,
                            T* total, double* squares) = 0;
    /// *norm = √(Σ squares) / *divisor; divisor may be null.
    virtual void norm_of_squares(int count, const double* squares, const double* divisor, double* norm) = 0;

    // --- the control of a training step (step_control.h)

    /// The factors of the loss gradient for `accumulate` batches of `tokens`, the loss scale in the report,
    /// its loss 0.
    virtual void begin_step(const StepRule&, int accumulate, std::int64_t tokens, const StepControl*,
                            LossFactors<T>*, StepReport*) = 0;
    /// *sum += Σ x / count / divisor, the sum in float64.
    virtual void add_mean(std::size_t count, const T* x, double divisor, double* sum) = 0;
    /// normscope::judge_step() with the report's loss and the norm *norm.
    virtual void judge_step(const StepRule&, const StepKnobs*, const double* norm, StepControl*, StepReport*,
                            OptimizerNumbers*, double* clip) = 0;

    // --- the optimizer. A factor *clip (or *global) of kNoUpdate: nothing is changed

    /// gates: [count] offsets of the gates' gradients, which are scaled so that, after a factor *global on
    /// all gradients, their joint norm is at most clip.
    virtual void clip_gates(int count, const std::size_t* gates, double clip, const double* global,
                            T* gradients) = 0;
    // One step on the pieces first … end − 1 of the arenas p (parameters), g (gradients), m, v (moments); the
    // gradient is *clip·g (core/train/optimizers.h has the formulas).
    virtual void adamw(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*,
                       const double* clip, const T* g, T* p, T* m, T* v) = 0;
    virtual void adam(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*,
                      const double* clip, const T* g, T* p, T* m, T* v) = 0;
    virtual void sgd(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*,
                     const double* clip, const T* g, T* p, T* m) = 0;
    /// On one matrix [rows, columns]; g, p and m point to it.
    virtual void muon(int rows, int columns, bool decays, const OptimizerNumbers*, const double* clip,
                      const T* g, T* p, T* m) = 0;

    // --- precision

    /// Rounds the weights of a pass to the format where storage is in it, in place.
    virtual void round_weights(std::size_t count, T* weights) = 0;
    /// The index of the first of `count` values that is not finite, or −1.
    virtual void first_not_finite(std::size_t count, const T* x, std::int64_t* place) = 0;
};

}  // namespace normscope
