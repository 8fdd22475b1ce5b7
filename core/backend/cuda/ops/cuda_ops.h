// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm.h"
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

    bool prefers_transposed() const override { return false; }
    int step_rows() const override { return std::numeric_limits<int>::max(); }
    bool needs_probabilities(int n, int d_head) const override {
        return n <= stored_tokens_ || !can_tile(d_head);
    }
#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/operations.inc"

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
