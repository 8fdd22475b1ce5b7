// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/context.h"
#include "core/backend/cuda/gemm.h"
#include "core/backend/cuda/tiled/tiled_attention.h"
#include "core/backend/ops.h"

#include <limits>
#include <type_traits>

namespace normscope::cuda {

/// The operations as CUDA kernels and GEMMs in the stream of `context`: sums run in a fixed order, without
/// atomic operations, so the same call gives the same bits. The same source is compiled by nvcc and, for the
/// emulated grid, by the host's compiler.
///
/// With `rounding` results are rounded to BF16 or FP16 by the rules of cpu/rounded_kernels.h and
/// cpu/autocast_kernels.h; `gemm` rounds its own.
template <class T>
class CudaOps final : public Ops<T> {
  public:
    /// Attention over more than `stored_tokens` tokens is tiled where the tape has no probabilities.
    CudaOps(Context& context, GemmLibrary<T>& gemm, Rounding rounding = Rounding::None,
            PrecisionPolicy policy = PrecisionPolicy::Pure, int stored_tokens = kStoredTokens)
        : context_(context),
          gemm_(gemm),
          rounding_(rounding),
          policy_(policy),
          stored_tokens_(stored_tokens) {}

    bool wants_transposed() const override { return false; }
    int step_rows() const override { return std::numeric_limits<int>::max(); }
    bool needs_probabilities(int n, int d_head) const override {
        return n <= stored_tokens_ || !can_tile(d_head);
    }
    void pass_coefficients(int sublayers, const CoefficientRule* rules, int d_head, const Numerics* numbers,
                           const T* parameters, PassCoefficients<T>* pass,
                           SublayerCoefficients<T>* out) override;
    void copy(std::size_t count, const T* from, T* to) override;
    void zero(const ArenaPiece* pieces, int count, T* arena) override;

    void linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) override;
    void linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) override;
    void linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh, T* dW) override;
    void column_sums(int R, int d, const T* x, T* sums) override;
    void transpose_weight(int out, int in, const T* weight, T* transposed) override;

    void norm_forward(const NormRows<T>&, const T* eps, const T* scale, T* y) override;
    void norm_vjp(const NormRows<T>&, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                  T* dbeta) override;
    void norm_jvp(const NormRows<T>&, const T* tx, const T* scale, T* ty) override;

    void attention_forward(const AttentionShape&, int sequences, const AttentionWeights<T>&, const T* u,
                           const AttentionTape<T>&, T* f) override;
    void attention_vjp(const AttentionShape&, int sequences, int directions, const AttentionWeights<T>&,
                       const AttentionTape<T>&, const T* u, const T* df, T* du,
                       const AttentionGradients<T>*) override;
    void attention_jvp(const AttentionShape&, int first_token, int directions, const AttentionWeights<T>&,
                       const AttentionTape<T>&, const T* tu, T* tf) override;

    void activation(Activation, std::size_t count, const T* h, T* a, T* slope) override;
    void multiply(std::size_t count, const T* x, const T* y, T* out) override;
    void swiglu(int R, int width, const T* pre, T* a) override;
    void swiglu_vjp(int R, int width, const T* pre, const T* da, T* dpre) override;
    void swiglu_jvp(int R, int width, const T* pre, const T* tpre, T* ta) override;
    void axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) override;
    void scale(std::size_t count, const T* a, const T* x, T* out) override;
    void scale_columns(int R, int d, const T* w, const T* x, T* out) override;
    void column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) override;

    void embedding_forward(int sequences, int length, int d, const std::int32_t* tokens, const T* table,
                           const T* positions, T* x) override;
    void embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx, int vocab,
                       T* dtable, int context, T* dpositions) override;
    void soft_cap(std::size_t count, T cap, T* x) override;
    void soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) override;
    void cross_entropy(int R, int V, const T* logits, const std::int32_t* targets, const T* scale, T z,
                       T* losses, T* dlogits) override;

    void add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) override;
    void add_squares(std::size_t count, const T* x, double* out) override;
    void piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena,
                       double* squares) override;
    void sum_shards(const ArenaPiece* pieces, int first, int end, int count, const T* const* shards, T* total,
                    double* squares) override;
    void norm_of_squares(int count, const double* squares, const double* divisor, double* norm) override;

    void begin_step(const StepRule&, int accumulate, std::int64_t tokens, const StepControl*, LossFactors<T>*,
                    StepReport*) override;
    void add_mean(std::size_t count, const T* x, double divisor, double* sum) override;
    void judge_step(const StepRule&, const StepKnobs*, const double* norm, StepControl*, StepReport*,
                    OptimizerNumbers*, double* clip) override;
    void clip_gates(int count, const std::size_t* gates, double clip, const double* global,
                    T* gradients) override;
    void adamw(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*, const double* clip,
               const T* g, T* p, T* m, T* v) override;
    void adam(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*, const double* clip,
              const T* g, T* p, T* m, T* v) override;
    void sgd(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers*, const double* clip,
             const T* g, T* p, T* m) override;
    void muon(int rows, int columns, bool decays, const OptimizerNumbers*, const double* clip, const T* g,
              T* p, T* m) override;

    void round_weights(std::size_t count, T* weights) override;
    void first_not_finite(std::size_t count, const T* x, std::int64_t* place) override;

  private:
    /// kernel(arguments…, in the context's queue).
    template <class... P, class... A>
    void run(const char* name, void (*kernel)(P...), grid::Shape shape, A... arguments) {
        launch(context_.queue(), name, kernel, shape, arguments...);
    }
    /// body(i, values…) for i = 0 … count − 1, one thread each.
    template <class Body>
    void each(const char* name, std::size_t count, Body body);
    /// sums[d] += Σ_r term(r, column), rows in chunks of a fixed size, the chunks in order.
    template <class Term>
    void add_columns(const char* name, int rows, int d, Term term, T* sums);
    /// finish(Σ_i term(i)) on the device, by a tree that depends on the count alone.
    template <class Term, class Finish>
    void reduce(const char* name, std::size_t count, Term term, Finish finish);
    /// The norms on q and k of the rows of a projection (attention.h).
    void normalise_qk(const AttentionShape&, int sequences, const AttentionWeights<T>&,
                      const AttentionTape<T>&);
    /// Rotary positions of rows [R, width]; row r is at token first_token + r mod (n − first_token).
    void rotate(const AttentionShape&, int R, int first_token, const T* angles, bool inverse, T* qkv);
    void orthogonalise(int rows, int columns, T* matrix);
    // Attention between its projections with stored probabilities (stored_attention.h).
    void stored_forward(const AttentionShape&, int sequences, const AttentionWeights<T>&,
                        const AttentionTape<T>&);
    void stored_vjp(const AttentionShape&, int sequences, int directions, const AttentionWeights<T>&,
                    const AttentionTape<T>&, const T* dmixed, T* dqkv);
    void stored_jvp(const AttentionShape&, int first_token, int directions, const AttentionWeights<T>&,
                    const AttentionTape<T>&, const T* tqkv, T* tmixed);
    /// Attention in tiles is of float32 numbers; where every result is rounded, the probabilities are results
    /// and are kept.
    bool can_tile(int d_head) const {
        return std::is_same_v<T, float> && d_head <= kTiledHead &&
               (rounding_ == Rounding::None || policy_ == PrecisionPolicy::Autocast);
    }
    /// InputError where the tape has neither probabilities nor what tiles need.
    void require_maps(const AttentionShape&, const AttentionTape<T>&) const;

    T* work(Work slot, std::size_t count) {
        return static_cast<T*>(context_.workspace(slot, count * sizeof(T)));
    }
    /// Where every result is rounded (PrecisionPolicy::Pure), and where results of elementwise functions are,
    /// also under autocast.
    void round_pure(std::size_t count, T* x) {
        if (policy_ == PrecisionPolicy::Pure) round_low(count, x);
    }
    void round_low(std::size_t count, T* x);

    Context& context_;
    GemmLibrary<T>& gemm_;
    Rounding rounding_;
    PrecisionPolicy policy_;
    int stored_tokens_;
};

}  // namespace normscope::cuda
