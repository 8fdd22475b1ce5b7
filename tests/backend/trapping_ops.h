// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ops.h"
#include "tests/backend/trapping_device.h"

#include <atomic>
#include <vector>

namespace normscope {

/// From handed-out addresses to real ones, for one call of an operation.
class Translator {
  public:
    Translator(const TrappingDevice& device, const char* operation)
        : device_(device), operation_(operation) {}
    template <class P>
    P* operator()(P* address) const {
        return static_cast<P*>(device_.real(address, operation_));
    }
    template <class T>
    NormStatistics<T> operator()(const NormStatistics<T>& s) const {
        return {(*this)(s.mean), (*this)(s.rstd)};
    }
    template <class T>
    NormRows<T> operator()(const NormRows<T>& n) const {
        return {n.kind, n.rows, n.d, (*this)(n.x), (*this)(n.statistics), (*this)(n.gamma), (*this)(n.beta)};
    }
    template <class T>
    LinearWeights<T> operator()(const LinearWeights<T>& w) const {
        return {(*this)(w.weight), (*this)(w.transposed), (*this)(w.bias)};
    }
    template <class T>
    AttentionWeights<T> operator()(const AttentionWeights<T>& w) const {
        return {(*this)(w.qkv),    (*this)(w.out), (*this)(w.q_norm), (*this)(w.k_norm),
                (*this)(w.angles), (*this)(w.eps), (*this)(w.scale)};
    }
    template <class T>
    AttentionTape<T> operator()(const AttentionTape<T>& t) const {
        return {(*this)(t.qkv),           (*this)(t.qk),    (*this)(t.q_norm),     (*this)(t.k_norm),
                (*this)(t.probabilities), (*this)(t.mixed), (*this)(t.row_softmax)};
    }
    template <class T>
    AttentionGradients<T> operator()(const AttentionGradients<T>& g) const {
        return {(*this)(g.wqkv),   (*this)(g.bqkv),   (*this)(g.wo), (*this)(g.bo),
                (*this)(g.q_norm), (*this)(g.k_norm), g.fresh};
    }
    /// Of a host array of addresses.
    template <class T>
    std::vector<const T*> each(int count, const T* const* addresses) const {
        std::vector<const T*> real;
        for (int i = 0; i < count; ++i) real.push_back((*this)(addresses[i]));
        return real;
    }

  private:
    const TrappingDevice& device_;
    const char* operation_;
};

/// Another device's operations on the addresses of a TrappingDevice.
template <class T>
class TrappingOps final : public Ops<T> {
  public:
    TrappingOps(const TrappingDevice& device, Ops<T>& inner, std::atomic<std::size_t>& count)
        : device_(device), inner_(inner), count_(count) {}

    bool wants_transposed() const override { return inner_.wants_transposed(); }
    int step_rows() const override { return inner_.step_rows(); }
    bool needs_probabilities(int n, int d_head) const override {
        return inner_.needs_probabilities(n, d_head);
    }
    void pass_coefficients(int sublayers, const CoefficientRule* rules, int d_head, const Numerics* numbers,
                           const T* parameters, PassCoefficients<T>* pass,
                           SublayerCoefficients<T>* out) override {
        const Translator at = translator("pass_coefficients");
        inner_.pass_coefficients(sublayers, at(rules), d_head, at(numbers), at(parameters), at(pass),
                                 at(out));
    }
    void copy(std::size_t count, const T* from, T* to) override {
        const Translator at = translator("copy");
        inner_.copy(count, at(from), at(to));
    }
    void zero(const ArenaPiece* pieces, int count, T* arena) override {
        const Translator at = translator("zero");
        inner_.zero(at(pieces), count, at(arena));
    }
    void linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) override {
        const Translator at = translator("linear");
        inner_.linear(R, out, in, at(x), at(w), at(y));
    }
    void linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) override {
        const Translator at = translator("linear_input_gradient");
        inner_.linear_input_gradient(R, out, in, at(dy), at(weight), at(dx));
    }
    void linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh, T* dW) override {
        const Translator at = translator("linear_weight_gradient");
        inner_.linear_weight_gradient(R, out, in, at(dy), at(x), fresh, at(dW));
    }
    void column_sums(int R, int d, const T* x, T* sums) override {
        const Translator at = translator("column_sums");
        inner_.column_sums(R, d, at(x), at(sums));
    }
    void transpose_weight(int out, int in, const T* weight, T* transposed) override {
        const Translator at = translator("transpose_weight");
        inner_.transpose_weight(out, in, at(weight), at(transposed));
    }
    void norm_forward(const NormRows<T>& a0, const T* eps, const T* scale, T* y) override {
        const Translator at = translator("norm_forward");
        inner_.norm_forward(at(a0), at(eps), at(scale), at(y));
    }
    void norm_vjp(const NormRows<T>& a0, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                  T* dbeta) override {
        const Translator at = translator("norm_vjp");
        inner_.norm_vjp(at(a0), at(dy), at(scale), add, at(dx), at(dgamma), at(dbeta));
    }
    void norm_jvp(const NormRows<T>& a0, const T* tx, const T* scale, T* ty) override {
        const Translator at = translator("norm_jvp");
        inner_.norm_jvp(at(a0), at(tx), at(scale), at(ty));
    }
    void attention_forward(const AttentionShape& a0, int sequences, const AttentionWeights<T>& a2, const T* u,
                           const AttentionTape<T>& a4, T* f) override {
        const Translator at = translator("attention_forward");
        inner_.attention_forward(a0, sequences, at(a2), at(u), at(a4), at(f));
    }
    void attention_vjp(const AttentionShape& a0, int sequences, int directions, const AttentionWeights<T>& a3,
                       const AttentionTape<T>& a4, const T* u, const T* df, T* du,
                       const AttentionGradients<T>* gradients) override {
        const Translator at = translator("attention_vjp");
        AttentionGradients<T> into;
        inner_.attention_vjp(a0, sequences, directions, at(a3), at(a4), at(u), at(df), at(du),
                             gradients ? &(into = at(*gradients)) : nullptr);
    }
    void attention_jvp(const AttentionShape& a0, int first_token, int directions,
                       const AttentionWeights<T>& a3, const AttentionTape<T>& a4, const T* tu,
                       T* tf) override {
        const Translator at = translator("attention_jvp");
        inner_.attention_jvp(a0, first_token, directions, at(a3), at(a4), at(tu), at(tf));
    }
    void activation(Activation a0, std::size_t count, const T* h, T* a, T* slope) override {
        const Translator at = translator("activation");
        inner_.activation(a0, count, at(h), at(a), at(slope));
    }
    void multiply(std::size_t count, const T* x, const T* y, T* out) override {
        const Translator at = translator("multiply");
        inner_.multiply(count, at(x), at(y), at(out));
    }
    void swiglu(int R, int width, const T* pre, T* a) override {
        const Translator at = translator("swiglu");
        inner_.swiglu(R, width, at(pre), at(a));
    }
    void swiglu_vjp(int R, int width, const T* pre, const T* da, T* dpre) override {
        const Translator at = translator("swiglu_vjp");
        inner_.swiglu_vjp(R, width, at(pre), at(da), at(dpre));
    }
    void swiglu_jvp(int R, int width, const T* pre, const T* tpre, T* ta) override {
        const Translator at = translator("swiglu_jvp");
        inner_.swiglu_jvp(R, width, at(pre), at(tpre), at(ta));
    }
    void axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) override {
        const Translator at = translator("axpby");
        inner_.axpby(count, at(a), at(x), at(b), at(y), at(out));
    }
    void scale(std::size_t count, const T* a, const T* x, T* out) override {
        const Translator at = translator("scale");
        inner_.scale(count, at(a), at(x), at(out));
    }
    void scale_columns(int R, int d, const T* w, const T* x, T* out) override {
        const Translator at = translator("scale_columns");
        inner_.scale_columns(R, d, at(w), at(x), at(out));
    }
    void column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) override {
        const Translator at = translator("column_products");
        inner_.column_products(R, d, at(a), at(x), at(y), at(sums));
    }
    void embedding_forward(int sequences, int length, int d, const std::int32_t* tokens, const T* table,
                           const T* positions, T* x) override {
        const Translator at = translator("embedding_forward");
        inner_.embedding_forward(sequences, length, d, at(tokens), at(table), at(positions), at(x));
    }
    void embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx, int vocab,
                       T* dtable, int context, T* dpositions) override {
        const Translator at = translator("embedding_vjp");
        inner_.embedding_vjp(sequences, length, d, at(tokens), at(dx), vocab, at(dtable), context,
                             at(dpositions));
    }
    void soft_cap(std::size_t count, T cap, T* x) override {
        const Translator at = translator("soft_cap");
        inner_.soft_cap(count, cap, at(x));
    }
    void soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) override {
        const Translator at = translator("soft_cap_vjp");
        inner_.soft_cap_vjp(count, cap, at(y), at(g), at(out));
    }
    void cross_entropy(int R, int V, const T* logits, const std::int32_t* targets, const T* scale, T z,
                       T* losses, T* dlogits) override {
        const Translator at = translator("cross_entropy");
        inner_.cross_entropy(R, V, at(logits), at(targets), at(scale), z, at(losses), at(dlogits));
    }
    void add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) override {
        const Translator at = translator("add_dot");
        inner_.add_dot(count, at(x), at(y), at(factor), at(out));
    }
    void add_squares(std::size_t count, const T* x, double* out) override {
        const Translator at = translator("add_squares");
        inner_.add_squares(count, at(x), at(out));
    }
    void piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena,
                       double* squares) override {
        const Translator at = translator("piece_squares");
        inner_.piece_squares(at(pieces), first, end, at(arena), at(squares));
    }
    void sum_shards(const ArenaPiece* pieces, int first, int end, int count, const T* const* shards, T* total,
                    double* squares) override {
        const Translator at = translator("sum_shards");
        inner_.sum_shards(at(pieces), first, end, count, at.each(count, shards).data(), at(total),
                          at(squares));
    }
    void norm_of_squares(int count, const double* squares, const double* divisor, double* norm) override {
        const Translator at = translator("norm_of_squares");
        inner_.norm_of_squares(count, at(squares), at(divisor), at(norm));
    }
    void begin_step(const StepRule& rule, int accumulate, std::int64_t tokens, const StepControl* control,
                    LossFactors<T>* factors, StepReport* report) override {
        const Translator at = translator("begin_step");
        inner_.begin_step(rule, accumulate, tokens, at(control), at(factors), at(report));
    }
    void add_mean(std::size_t count, const T* x, double divisor, double* sum) override {
        const Translator at = translator("add_mean");
        inner_.add_mean(count, at(x), divisor, at(sum));
    }
    void judge_step(const StepRule& rule, const StepKnobs* knobs, const double* norm, StepControl* control,
                    StepReport* report, OptimizerNumbers* numbers, double* clip) override {
        const Translator at = translator("judge_step");
        inner_.judge_step(rule, at(knobs), at(norm), at(control), at(report), at(numbers), at(clip));
    }
    void clip_gates(int count, const std::size_t* gates, double clip, const double* global,
                    T* gradients) override {
        const Translator at = translator("clip_gates");
        inner_.clip_gates(count, at(gates), clip, at(global), at(gradients));
    }
    void adamw(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* a3, const double* clip,
               const T* g, T* p, T* m, T* v) override {
        const Translator at = translator("adamw");
        inner_.adamw(at(pieces), first, end, at(a3), at(clip), at(g), at(p), at(m), at(v));
    }
    void adam(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* a3, const double* clip,
              const T* g, T* p, T* m, T* v) override {
        const Translator at = translator("adam");
        inner_.adam(at(pieces), first, end, at(a3), at(clip), at(g), at(p), at(m), at(v));
    }
    void sgd(const ArenaPiece* pieces, int first, int end, const OptimizerNumbers* a3, const double* clip,
             const T* g, T* p, T* m) override {
        const Translator at = translator("sgd");
        inner_.sgd(at(pieces), first, end, at(a3), at(clip), at(g), at(p), at(m));
    }
    void muon(int rows, int columns, bool decays, const OptimizerNumbers* a3, const double* clip, const T* g,
              T* p, T* m) override {
        const Translator at = translator("muon");
        inner_.muon(rows, columns, decays, at(a3), at(clip), at(g), at(p), at(m));
    }
    void round_weights(std::size_t count, T* weights) override {
        const Translator at = translator("round_weights");
        inner_.round_weights(count, at(weights));
    }
    void first_not_finite(std::size_t count, const T* x, std::int64_t* place) override {
        const Translator at = translator("first_not_finite");
        inner_.first_not_finite(count, at(x), at(place));
    }

  private:
    Translator translator(const char* operation) const {
        count_.fetch_add(1, std::memory_order_relaxed);
        return {device_, operation};
    }
    const TrappingDevice& device_;
    Ops<T>& inner_;
    std::atomic<std::size_t>& count_;
};

}  // namespace normscope
