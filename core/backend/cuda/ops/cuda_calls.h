// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/tiled/tiled_attention.h"
#include "core/backend/pass_ops.h"
#include "core/backend/shared/low_precision.h"

#include <cstddef>

namespace normscope::cuda {

/// What the classes of operations share: launches in the stream of `context`, its memory, loops over entries,
/// sums, and the rounding of results. Sums run in a fixed order, without atomic operations, so the same call
/// gives the same bits. The same source is compiled by nvcc and, for the emulated grid, by the host's
/// compiler.
template <class T>
class CudaCalls {
  protected:
    /// rounding: to BF16 or FP16 by the rules of cpu/rounded_kernels.h and cpu/autocast_kernels.h.
    CudaCalls(Context& context, Rounding rounding, PrecisionPolicy policy)
        : context_(context), rounding_(rounding), policy_(policy) {}
    ~CudaCalls() = default;

    /// kernel(arguments…, in the context's queue).
    template <class... P, class... A>
    void run(const char* name, Kernel<P...> kernel, grid::Shape shape, A... arguments) {
        launch(context_.queue(), name, kernel, shape, arguments...);
    }
    /// What the launch that follows moves; traffic() is called where calls are logged.
    template <class Compute>
    void moves(const Compute& traffic) {
        if (LaunchLog* log = context_.log()) log->state(traffic());
    }
    /// body(i, values…) for i = 0 … count − 1, one thread each.
    template <class Body>
    void each(const char* name, std::size_t count, Body body);
    /// sums[d] += Σ_r term(r, column), rows in chunks of a fixed size, the chunks in order; what is added is
    /// rounded.
    template <class Term>
    void add_columns(const char* name, int rows, int d, Term term, T* sums, Rounding to = Rounding::None);
    /// Memory for the partial sums of one operation, which its add_later() reads.
    void* partial_sums(std::size_t bytes);
    template <class V>
    V* partials(std::size_t count) {
        return static_cast<V*>(partial_sums(count * sizeof(V)));
    }
    /// The chunks' part of a sum, now or by finish_sums().
    void add_later(const ChunkSum& sum);
    /// All delayed sums, now.
    void finish_delayed();
    /// In as few launches as take them.
    void add_chunks(const std::vector<ChunkSum>& sums);
    /// ElementwiseOps::add_squares.
    void add_squares_of(int arrays, std::size_t count, std::size_t stride, const T* x, double* out);
    /// z = rows(i, column), of `read` bytes an entry, its norm to y, which L stores, and its squares:
    /// LayerOps::residual_norm and embedding_norm without rounding.
    template <class L, class Rows, class Y>
    void rows_norm(const char* name, const NormRows<T>&, Rows rows, double read, T* z, const T* eps,
                   const T* scale, Y y, double* squares);
    /// LayerOps::norm_vjp in one launch and sums of chunks, without rounding of dx. dy: rows that L loads;
    /// to: the rows of `before`, which L stores.
    template <class L, class U, class To>
    void norm_backward(const NormRows<T>&, U dy, const T* scale, bool add, T* dx, T* dgamma, T* dbeta,
                       double* squares, const BranchGradient<T>& before, To to);
    /// TiledAttention::vjp; bias [width] (null: none) += the sums of dqkv's rows, of one direction, rounded
    /// as column_sums are.
    void tiled_vjp(Rounding operands, const AttentionShape&, int sequences, int directions,
                   const float* scale, const TiledAttention::Tape&, TiledAttention::Rows dmixed,
                   TiledAttention::Rows dqkv, float* bias);
    /// finish(Σ_i term(i)) on the device, by a tree that depends on the count alone.
    template <class Term, class Finish>
    void reduce(const char* name, std::size_t count, Term term, Finish finish);

    T* work(Work slot, std::size_t count) {
        return static_cast<T*>(context_.workspace(slot, count * sizeof(T)));
    }
    void copy_values(std::size_t count, const T* from, T* to) {
        if (count > 0) context_.copy(to, from, count * sizeof(T));
    }
    /// Where every result is rounded (PrecisionPolicy::Pure), and where results of elementwise functions are,
    /// also under autocast.
    void round_pure(std::size_t count, T* x) {
        if (policy_ == PrecisionPolicy::Pure) round_low(count, x);
    }
    void round_low(std::size_t count, T* x);
    /// A sum that is rounded where it lies has to be there at once.
    bool delays() { return context_.sums().delayed && !rounds_pure(); }
    bool rounds_pure() const { return policy_ == PrecisionPolicy::Pure && rounding_ != Rounding::None; }

    Context& context_;
    Rounding rounding_;
    PrecisionPolicy policy_;
};

}  // namespace normscope::cuda
