// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/backend/cpu/thread_pool.h"
#include "core/model/batch.h"
#include "core/model/norm_site.h"
#include "core/model/parameters.h"
#include "core/model/pass.h"
#include "core/model/sublayer.h"
#include "core/model/tape.h"

namespace normscope {

/// Gradients of one step. Passes are cut into shards of whole sequences; each shard adds into its own buffer and the
/// buffers are summed in order, so the result has the same bits on one thread or many.
template <class T>
struct Gradients {
    std::vector<std::vector<T>> shards;
    bool fresh = true;  ///< nothing added yet; the first pass overwrites what stands in the buffers
    /// Per shard [2D+1]: Σh² and Σ(∂loss/∂h)² of every hidden state over all rows that the passes added, in float64
    /// (gradient_ratio.h reads them).
    std::vector<std::vector<double>> state_square, gradient_square;
    std::vector<T>& total() { return shards.front(); }
    const std::vector<T>& total() const { return shards.front(); }
};

/// What Transformer::accumulate works with, kept from step to step.
template <class T>
struct StepScratch {
    std::vector<T> losses;  ///< [R] cross-entropy per token, nat
    std::vector<T> turned;  ///< see Tape::turned
    double mean_loss() const { return mean(losses.data(), losses.size()); }
};

/// A causal language model: embedding, 2·depth sub-layers, final norm, head, cross-entropy. Holds the parameters; all
/// passes are const and leave their results in a Tape, so probes and training share one model without touching each
/// other. T is float or double. Not thread-safe against a concurrent change of parameters or numerics.
template <class T>
class Transformer {
  public:
    /// A completed, validated spec; weights drawn from `seed`.
    Transformer(const StackSpec& spec, std::uint64_t seed);

    /// The layers first_layer … first_layer + layers − 1 of another model, in this scalar: its weights as they are
    /// (rounded already where it rounds), its numerics, each layer's own rule, and no rounding of its own. Without
    /// `embedding` its vocabulary is one token and forward_layers() is what it can do; with it, and all layers, it
    /// evaluates the same function. Measures in float64 what runs in float32.
    template <class U>
    Transformer(const Transformer<U>& other, int first_layer, int layers, bool embedding);

    const StackSpec& spec() const { return spec_; }
    const ParameterTable& table() const { return table_; }
    const std::vector<SublayerRule>& rules() const { return rules_; }  ///< 2D
    const std::vector<NormSite>& sites() const { return sites_; }
    std::span<T> parameters() { return parameters_; }
    std::span<const T> parameters() const { return parameters_; }
    Numerics numerics;  ///< may be changed between passes

    /// Emulated precision, of every pass; storage is float32, and inside an operation numbers accumulate in float32.
    /// Pure: the result of every operation (each product, each row kernel, a residual sum, an embedding's sum) is rounded
    /// to the format; rounded_kernels.h lists what is not rounded. Autocast: products take rounded operands and give
    /// rounded results, and of the rest only what autocast_kernels.h lists is rounded; weights are read as float32 and
    /// rounded at the product. Transformer<float> only (InputError).
    void set_rounding(Rounding rounding, PrecisionPolicy policy = PrecisionPolicy::Pure);
    Rounding rounding() const { return rounding_; }
    PrecisionPolicy policy() const { return policy_; }
    /// Puts these weights in the place of parameters(), rounded to the format under the pure policy; the gates stay
    /// float32, since their small steps would round away ([G] trains them in pure BF16 and sees them freeze).
    void set_parameters(std::span<const T> weights);

    /// Tokens [B, n], n ≤ context, every token below vocab (InputError otherwise). Fills the tape; losses too when the
    /// batch has targets.
    void forward(const Batch&, Tape<T>&, ThreadPool&) const;

    /// The layers alone, from the hidden states [length, d] of one sequence on; no head. length ≤ context.
    void forward_layers(const T* states, int length, Tape<T>&, ThreadPool&) const;

    /// Adds ∂(factor·mean loss)/∂θ to `gradients` (reserved and zeroed by clear()). `record` may be null.
    void backward(const Batch&, const Tape<T>&, T factor, Gradients<T>&, ThreadPool&,
                  BackwardRecord<T>* record = nullptr) const;
    /// What forward() and backward() add for a batch, with the loss of each token [R] but without a tape: each thread
    /// takes a few sequences forward and back before the next ones, so that the backward pass finds in the cache what
    /// the forward pass left. Sums are in another order than backward()'s.
    void accumulate(const Batch&, T factor, Gradients<T>&, StepScratch<T>&, ThreadPool&) const;
    void clear(Gradients<T>&, int sequences) const;
    /// Sums the shards' buffers, in order, into total(), in float32 under emulated precision too, for the optimizer.
    /// Returns ‖total‖₂, summed in float64.
    double reduce(Gradients<T>&, ThreadPool&) const;

    /// The Jacobian of the sub-layers begin … end − 1 times K directions (JVP), at one sequence of the tape:
    /// tangent [K, m, d] at the tokens first_token … n − 1, replaced by its image. In a causal stack those tokens
    /// depend on each other and the earlier ones alone; otherwise first_token must be 0. In a parallel layer the map of
    /// one sub-layer alone is its own (sublayer.h); whole layers, and ranges of them, are exact.
    void tangent(const Tape<T>&, int sequence, int begin, int end, int first_token, int directions, Jacobian,
                 T* tangent) const;
    /// Its transpose (VJP) for the whole batch: gradient [R, d] at h_end, replaced by the gradient at h_begin.
    void pull_back(const Tape<T>&, int begin, int end, Jacobian, T* gradient) const;
    /// The transpose times K directions at one sequence: gradient [K, n, d].
    void pull_back(const Tape<T>&, int sequence, int begin, int end, int directions, Jacobian, T* gradient) const;

    /// How many shards a batch of B sequences is cut into: a function of B alone.
    static int shard_count(int sequences);

  private:
    Pass<T> pass(const std::vector<T>& turned) const;
    void turn_weights(std::vector<T>& turned, ThreadPool&) const;  ///< see Tape::turned
    void check(const Batch&) const;
    void shard_forward(const Pass<T>&, const Batch&, Shard, const Tape<T>&) const;
    /// Adds into the gradients of the shard `index`; `noted` [2D] and `record` may be null.
    void shard_backward(const Pass<T>&, const Batch&, Shard, const Tape<T>&, T scale, int index, Gradients<T>&,
                        const NormOutputGradients<T>* noted, BackwardRecord<T>* record) const;
    void pull_back(const Tape<T>&, Shard, int begin, int end, Jacobian, T* gradient) const;
    Shard shard(int index, int sequences) const;
    void embed(const Pass<T>&, const Batch&, Shard, const Tape<T>&) const;
    void head_forward(const Pass<T>&, Shard, const Tape<T>&) const;
    /// Gradient at the last hidden state of scale·Σ losses, and the losses.
    void head_backward(const Pass<T>&, const Batch&, Shard, const Tape<T>&, T scale, T* gradient, T* gradients,
                       BackwardRecord<T>*) const;
    /// Zeroes what a backward pass adds to: all but the blocks' weight matrices (Pass::weight_gradient).
    void clear_sums(T* gradients) const;
    /// gradient: [R, d] of the shard at hidden[0], overwritten.
    void embed_backward(const Batch&, Shard, const Tape<T>&, T* gradient, T* gradients,
                        BackwardRecord<T>*) const;

    StackSpec spec_;
    ParameterTable table_;
    std::vector<SublayerRule> rules_;
    std::vector<NormSite> sites_;
    std::vector<T> parameters_;
    std::vector<T> angles_;  ///< of rotary positions, else empty
    /// What is rounded outside of products: nothing under autocast.
    Rounding storage_rounding() const { return policy_ == PrecisionPolicy::Pure ? rounding_ : Rounding::None; }

    Rounding rounding_ = Rounding::None;
    PrecisionPolicy policy_ = PrecisionPolicy::Pure;
    RowKernels<T> kernels_;  ///< those of the rounding and its policy
};

}  // namespace normscope
