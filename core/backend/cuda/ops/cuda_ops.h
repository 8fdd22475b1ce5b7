// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/gemm.h"
#include "core/backend/cuda/ops/cuda_calls.h"
#include "core/backend/cuda/tiled/tiled_attention.h"
#include "core/backend/device.h"
#include "core/backend/pass_ops.h"
#include "core/backend/step_ops.h"

#include <limits>
#include <type_traits>

namespace normscope::cuda {

/// The layers as CUDA kernels and GEMMs. With `rounding` results are rounded; `gemm` rounds its own.
template <class T>
class CudaLayerOps final : public LayerOps<T>, private CudaCalls<T> {
  public:
    /// Attention over more than `stored_tokens` tokens is tiled where the tape has no probabilities.
    CudaLayerOps(Context& context, GemmLibrary<T>& gemm, Rounding rounding, PrecisionPolicy policy,
                 int stored_tokens)
        : CudaCalls<T>(context, rounding, policy), gemm_(gemm), stored_tokens_(stored_tokens) {}

    bool prefers_transposed() const override { return false; }
    int step_rows() const override { return std::numeric_limits<int>::max(); }
    bool needs_probabilities(int n, int d_head) const override {
        return n <= stored_tokens_ || !can_tile(d_head);
    }
#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/layer_operations.inc"

  private:
    using CudaCalls<T>::moves;
    using CudaCalls<T>::run;
    using CudaCalls<T>::each;
    using CudaCalls<T>::add_columns;
    using CudaCalls<T>::add_later;
    using CudaCalls<T>::partials;
    using CudaCalls<T>::partial_sums;
    using CudaCalls<T>::work;
    using CudaCalls<T>::round_pure;
    using CudaCalls<T>::round_low;
    using CudaCalls<T>::context_;
    using CudaCalls<T>::rounding_;
    using CudaCalls<T>::policy_;

    /// The norms on q and k of the rows of a projection (attention.h).
    void normalise_qk(const AttentionShape&, int sequences, const AttentionWeights<T>&,
                      const AttentionTape<T>&);
    /// Rotary positions of rows [R, width]; row r is at token first_token + r mod (n − first_token).
    void rotate(const AttentionShape&, int R, int first_token, const T* angles, bool inverse, T* qkv);
    // Attention between its projections with stored probabilities (stored_attention.h).
    void stored_forward(const AttentionShape&, int sequences, const AttentionWeights<T>&,
                        const AttentionTape<T>&);
    void stored_vjp(const AttentionShape&, int sequences, int directions, const AttentionWeights<T>&,
                    const AttentionTape<T>&, const T* dmixed, T* dqkv);
    void stored_jvp(const AttentionShape&, int first_token, int directions, const AttentionWeights<T>&,
                    const AttentionTape<T>&, const T* tqkv, T* tmixed);
    /// The derivative of the soft cap in place on `count` rows of maps, `map_rows` each from first_row on;
    /// nothing without a cap (stored_attention.h).
    void through_cap(const AttentionShape&, const AttentionWeights<T>&, const AttentionTape<T>&,
                     int first_row, int map_rows, int count, int maps, T* rows);
    /// Attention in tiles is of float32 numbers; where every result is rounded, the probabilities are results
    /// and are kept.
    bool can_tile(int d_head) const {
        return std::is_same_v<T, float> && d_head <= kTiledHead &&
               (rounding_ == Rounding::None || policy_ == PrecisionPolicy::Autocast);
    }
    /// InputError where the tape has neither probabilities nor what tiles need.
    void require_maps(const AttentionShape&, const AttentionTape<T>&) const;

    GemmLibrary<T>& gemm_;
    int stored_tokens_;
};

/// What lies between layers, as CUDA kernels. With `rounding` results are rounded.
template <class T>
class CudaElementwiseOps final : public ElementwiseOps<T>, private CudaCalls<T> {
  public:
    CudaElementwiseOps(Context& context, Rounding rounding, PrecisionPolicy policy)
        : CudaCalls<T>(context, rounding, policy) {}

#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/elementwise_operations.inc"

  private:
    using CudaCalls<T>::moves;
    using CudaCalls<T>::run;
    using CudaCalls<T>::each;
    using CudaCalls<T>::add_columns;
    using CudaCalls<T>::add_later;
    using CudaCalls<T>::partials;
    using CudaCalls<T>::finish_delayed;
    using CudaCalls<T>::reduce;
    using CudaCalls<T>::copy_values;
    using CudaCalls<T>::round_pure;
    using CudaCalls<T>::round_low;
    using CudaCalls<T>::rounding_;
    using CudaCalls<T>::context_;
};

/// Both, in one arithmetic.
template <class T>
struct CudaPassOps {
    CudaPassOps(Context& context, GemmLibrary<T>& gemm, Rounding rounding = Rounding::None,
                PrecisionPolicy policy = PrecisionPolicy::Pure, int stored_tokens = kStoredTokens)
        : layers(context, gemm, rounding, policy, stored_tokens), elementwise(context, rounding, policy) {}
    operator PassOps<T>() { return {layers, elementwise, compact}; }
    CudaLayerOps<T> layers;
    CudaElementwiseOps<T> elementwise;
    CompactOps<T>* compact = nullptr;
};

/// The operations of a training step as CUDA kernels, and Muon's GEMMs.
template <class T>
class CudaStepOps final : public StepOps<T>, private CudaCalls<T> {
  public:
    CudaStepOps(Context& context, GemmLibrary<T>& gemm)
        : CudaCalls<T>(context, Rounding::None, PrecisionPolicy::Pure), gemm_(gemm) {}

#define NORMSCOPE_OPERATION(name, parameters, names) void name parameters override;
#include "core/backend/step_operations.inc"

  private:
    using CudaCalls<T>::moves;
    using CudaCalls<T>::run;
    using CudaCalls<T>::each;
    using CudaCalls<T>::reduce;
    using CudaCalls<T>::work;
    using CudaCalls<T>::copy_values;
    using CudaCalls<T>::context_;

    void orthogonalise(int rows, int columns, T* matrix);

    GemmLibrary<T>& gemm_;
};

}  // namespace normscope::cuda
