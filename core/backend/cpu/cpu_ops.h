// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/products.h"
#include "core/backend/ops.h"

namespace normscope {

/// The operations on the CPU: each runs on the calling thread alone and is done when it returns.
template <class T>
class CpuOps : public Ops<T> {
  public:
    explicit CpuOps(const CpuKernels<T>& kernels) : kernels_(kernels) {}

    bool wants_transposed() const override;
    int step_rows() const override;
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

  protected:
    CpuKernels<T> kernels_;
};

}  // namespace normscope
