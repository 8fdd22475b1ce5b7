// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/device.h"
#include "core/model/batch.h"
#include "core/model/norm_site.h"
#include "core/model/parameters.h"
#include "core/model/pass.h"
#include "core/model/sublayer.h"
#include "core/model/tape.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace normscope {

/// Of the `all` shards of a batch, `count` from `first` on.
struct ShardPart {
    int first = 0, count = 0, all = 0;
};

/// Gradients of one step, in the device's memory. Passes are cut into shards of whole sequences; each shard
/// adds into its own buffer and the buffers are summed in order, so the result has the same bits on one
/// thread or many.
template <class T>
struct Gradients {
    ShardPart part;                 ///< of the batch's shards those that this process computes
    std::vector<Buffer<T>> shards;  ///< of these
    bool fresh = true;              ///< uninitialised; the first pass overwrites the buffers
    /// [all shards, 2, 2D+1]: Σh² and Σ(∂loss/∂h)² of every hidden state over all rows that the passes added,
    /// in float64 (gradient_ratio.h reads them).
    Buffer<double> hidden_squares;
    Buffer<double> norm;           ///< one: ‖total‖₂
    Buffer<double> piece_squares;  ///< of sum_shards()
    Buffer<T> loss_gradient;       ///< one: the factor of a token's cross-entropy
    BatchBuffer<T> batch;
    Buffer<T>& total() { return shards.front(); }
    const Buffer<T>& total() const { return shards.front(); }
};

/// The buffers of Transformer::accumulate, kept from step to step.
template <class T>
struct StepScratch {
    std::vector<BatchBuffer<T>> batches;                   ///< of the step
    std::vector<DeviceBatch<T>> on_device;                 ///< the same
    std::int64_t counted = 0;                              ///< rows of the last batch that have a loss
    Buffer<T> losses;                                      ///< [R] cross-entropy per token, nat
    Buffer<T> transposed;                                  ///< see Tape::transposed
    Buffer<std::uint16_t> short_weights, short_gradients;  ///< see Pass
    Coefficients<T> coefficients;
    double mean_loss() const {
        const HostView<T> on_host(losses);
        return sum(on_host.data(), on_host.size()) / static_cast<double>(counted);
    }
};

template <class T>
class Transformer;

/// ε of the norm at one place: the model's numerics.eps, or what it was raised to where that is more. The
/// norms on q and k are none of the places and have numerics.eps.
template <class T>
double norm_eps(const Transformer<T>& model, NormSite::Place place, int sublayer);
template <class T>
double norm_eps(const Transformer<T>& model, const NormSite& site) {
    return norm_eps(model, site.place, site.sublayer);
}

/// A language model, or a classifier of images (StackSpec::of_images): embedding, 2·depth sub-layers, final
/// norm, head, cross-entropy. Holds the parameters; all passes are const and leave their results in a Tape,
/// so probes and training can share one model. T is float or double. Not thread-safe against a concurrent
/// change of parameters or numerics.
template <class T>
class Transformer {
  public:
    /// A completed, validated spec; weights drawn from `seed`, the same on every device.
    Transformer(const StackSpec& spec, std::uint64_t seed, Device& device = cpu_device());

    /// The layers first_layer … first_layer + layers − 1 of another model, in this scalar: its (already
    /// rounded) weights, its numerics, each layer's rule, and no rounding. Without `embedding` the vocabulary
    /// is one token and only forward_layers() is available; with it, and all layers, it evaluates the same
    /// function. Used to measure a float32 run in float64.
    template <class U>
    Transformer(const Transformer<U>& other, int first_layer, int layers, bool embedding);

    const StackSpec& spec() const { return spec_; }
    const ParameterTable& table() const { return table_; }
    const std::vector<SublayerRule>& rules() const { return rules_; }  ///< 2D
    const std::vector<NormSite>& sites() const { return sites_; }
    Device& device() const { return *device_; }
    /// In device memory; the host reads them through host_parameters().
    std::span<T> parameters() { return {parameters_.data(), parameters_.size()}; }
    std::span<const T> parameters() const { return {parameters_.data(), parameters_.size()}; }
    HostView<T> host_parameters() const { return parameters_; }
    HostView<T> host_parameters(std::size_t offset, std::size_t count) const {
        return {*device_, parameters_.data() + offset, count};
    }
    Numerics numerics;  ///< may be changed between passes

    /// To what ε is raised, per site of sites(); empty: nowhere. May be changed between passes (norm_eps()).
    const std::vector<double>& raised_eps() const { return raised_eps_; }
    /// InputError where there are other than none or one per site, or one that is negative or not finite.
    void raise_eps(std::vector<double> by_site);

    /// Emulated precision, of every pass; storage is float32, and inside an operation sums accumulate in
    /// float32. Pure: the result of every operation (each product, each row kernel, a residual sum, an
    /// embedding's sum) is rounded to the format; rounded_kernels.h lists what is not rounded. Autocast: GEMM
    /// has rounded operands and results, and of the rest only what autocast_kernels.h lists is rounded;
    /// weights are float32 and rounded at the GEMM. TF32: GEMM has rounded operands, and nothing else is
    /// rounded; policy() is then Autocast. InputError for Transformer<double>, or where the device lacks the
    /// format.
    void set_rounding(Rounding rounding, PrecisionPolicy policy = PrecisionPolicy::Pure);
    /// The operations of every forward pass from now on, of memory that the host reads; null: the device's,
    /// of the rounding. They outlive the model or are replaced.
    void set_operations(LayerOps<T>* layers, ElementwiseOps<T>* elementwise) {
        layers_ = layers;
        elementwise_ = elementwise;
    }
    Rounding rounding() const { return rounding_; }
    PrecisionPolicy policy() const { return policy_; }
    /// Replaces parameters() by these weights (device memory), rounded to the format under the
    /// pure policy; the gates stay float32, since their small steps would round away ([G] trains them in pure
    /// BF16 and sees them freeze).
    void set_parameters(std::span<const T> weights);

    /// Tokens [B, n], n ≤ context, every token below vocab (InputError otherwise). Fills the tape; losses too
    /// when the batch has targets.
    void forward(const Batch&, Tape<T>&, ThreadPool&, Probabilities = Probabilities::Kept) const;

    /// The layers alone, from the hidden states [length, d] of one sequence on, which the host holds; no
    /// head. length ≤ context.
    void forward_layers(const T* states, int length, Tape<T>&, ThreadPool&) const;

    /// Adds ∂(factor·mean loss)/∂θ to `gradients` (reserved and zeroed by clear()). `record` may be null.
    void backward(const Batch&, const Tape<T>&, T factor, Gradients<T>&, ThreadPool&,
                  BackwardRecord<T>* record = nullptr) const;
    /// What forward() and backward() add for a batch, with the loss of each token [R] but without a tape:
    /// each thread runs the forward and backward pass of a few sequences before the next ones, so that the
    /// backward pass finds the tape in the cache. The order of sums differs from backward().
    void accumulate(const Batch&, T factor, Gradients<T>&, StepScratch<T>&, ThreadPool&) const;
    /// What accumulate() copies to the device, for all batches of a step: tokens, targets, numerics.
    void upload_step(const std::vector<Batch>&, StepScratch<T>&) const;
    /// The rest of it, for one of these batches: calls of the device alone. *token_factor, of the device, is
    /// what the gradient of a token's cross-entropy is multiplied by.
    void accumulate(std::size_t batch, const T* token_factor, Gradients<T>&, StepScratch<T>&,
                    ThreadPool&) const;
    /// For a batch of so many sequences: of all shards of the device, or of a part of as many as it states.
    void clear(Gradients<T>&, int sequences, std::optional<ShardPart> part = std::nullopt) const;
    /// Sums the shards' buffers, in order, into total(), in float32 under emulated precision too, for the
    /// optimizer; and the squares of its pieces into Gradients::piece_squares.
    void sum_shards(Gradients<T>&, ThreadPool&) const;
    /// The same, and ‖total‖₂ on the host.
    double reduce(Gradients<T>&, ThreadPool&) const;

    /// JVP of the sub-layers begin … end − 1 with K directions, at one sequence of the tape:
    /// tangent [K, m, d] at the tokens first_token … n − 1, replaced by its image. The directions lie in the
    /// device's memory, here and in pull_back(). What the pass multiplied by is in the tape, with its
    /// numerics. In a causal stack those tokens depend on each other and the earlier ones alone; otherwise
    /// first_token must be 0. In a parallel layer the map of one sub-layer alone is its own (sublayer.h);
    /// whole layers, and ranges of them, are exact.
    void tangent(const Tape<T>&, int sequence, int begin, int end, int first_token, int directions, Jacobian,
                 T* tangent) const;
    /// VJP for the whole batch: gradient [R, d] at h_end, replaced by the gradient at h_begin.
    void pull_back(const Tape<T>&, int begin, int end, Jacobian, T* gradient) const;
    /// VJP with K directions at one sequence: gradient [K, n, d].
    void pull_back(const Tape<T>&, int sequence, int begin, int end, int directions, Jacobian,
                   T* gradient) const;

  private:
    void build_tables();
    /// Of the rounding and its policy.
    PassOps<T> ops() const {
        return layers_ ? PassOps<T>{*layers_, *elementwise_}
                       : device_->template pass_ops<T>(rounding_, policy_);
    }
    Pass<T> pass(const Buffer<T>& transposed, const Coefficients<T>&) const;
    /// [eps_entries()]
    std::vector<T> eps_of_all() const;
    /// As another model's layers from `first_layer` on.
    template <class U>
    void raise_eps_as(const Transformer<U>& other, int first_layer) {
        if (other.raised_eps().empty()) return;
        std::vector<double> by_site;
        for (const NormSite& site : sites_)
            by_site.push_back(
                norm_eps(other, site.place, site.sublayer < 0 ? -1 : site.sublayer + 2 * first_layer));
        raise_eps(std::move(by_site));
    }
    /// Before a pass: uploads the numerics.
    void upload_numerics(Coefficients<T>&) const;
    /// Before a pass: its coefficients and transposed weights.
    void prepare(Coefficients<T>&, Buffer<T>& transposed, ThreadPool&) const;
    void check(const Batch&) const;
    /// `batch` begins where the tape does. squares [2D + 1], unless null, += Σ h² of each hidden state.
    void shard_forward(const Pass<T>&, const DeviceBatch<T>& batch, Shard, const Tape<T>&,
                       double* squares = nullptr) const;
    /// Whether the head's gradient is computed in 16 bits with those of the blocks' matrices: a head of its
    /// own without columns that have no class.
    bool has_short_head_gradient(const CompactParts& parts) const {
        return parts.sublayers && parts.head && table_.head != table_.tok_emb &&
               CompactOps<T>::classes(spec_.vocab) == spec_.vocab;
    }
    /// Gradients::hidden_squares of a shard: of the hidden states, then of their gradients, [2D + 1] each.
    double* squares_of(Gradients<T>& gradients, int index) const {
        return gradients.hidden_squares.data() + static_cast<std::size_t>(index) * 2 * (rules_.size() + 1);
    }
    /// Adds into the gradients of the shard `index`; `noted` [2D] and `record` may be null.
    void shard_backward(const Pass<T>&, const DeviceBatch<T>&, Shard, const Tape<T>&, int index,
                        Gradients<T>&, const T* token_factor, const NormOutputGradients<T>* noted,
                        BackwardRecord<T>* record) const;
    void pull_back(const Tape<T>&, Shard, int begin, int end, Jacobian, T* gradient) const;
    /// The sequences of one of `all` shards.
    static Shard shard(int index, int all, int sequences);
    /// hidden[0] and, unless null, its squares; `first`, unless null, is a norm of it that is computed too.
    void embed(const Pass<T>&, const DeviceBatch<T>&, Shard, const Tape<T>&, const NormStep<T>* first,
               double* squares) const;
    void head_forward(const Pass<T>&, Shard, const Tape<T>&) const;
    /// Gradient at the last hidden state of *scale·Σ losses, and the losses. True: links.before is computed.
    bool head_backward(const Pass<T>&, const DeviceBatch<T>&, Shard, const Tape<T>&, const T* scale,
                       T* gradient, T* gradients, const BackwardLinks<T>& links, BackwardRecord<T>*) const;
    /// gradient: [R, d] of the shard at hidden[0], overwritten.
    void embed_backward(const Pass<T>&, const DeviceBatch<T>&, Shard, const Tape<T>&, T* gradient,
                        T* gradients, BackwardRecord<T>*) const;

    Device* device_;
    StackSpec spec_;
    ParameterTable table_;
    std::vector<SublayerRule> rules_;
    std::vector<NormSite> sites_;
    std::vector<double> raised_eps_;
    Buffer<T> parameters_;
    Buffer<T> angles_;                           ///< of rotary positions, else empty
    Buffer<CoefficientRule> coefficient_rules_;  ///< [2D]
    Buffer<ArenaPiece> pieces_;                  ///< the whole arena, in pieces
    Buffer<ArenaPiece> sums_;      ///< accumulated by a backward pass: all but the blocks' matrices
    Buffer<ArenaPiece> matrices_;  ///< the blocks' matrices
    Buffer<ArenaPiece> matrices_and_head_;
    Rounding rounding_ = Rounding::None;
    PrecisionPolicy policy_ = PrecisionPolicy::Pure;
    LayerOps<T>* layers_ = nullptr;  ///< in place of the device's
    ElementwiseOps<T>* elementwise_ = nullptr;
};

}  // namespace normscope
