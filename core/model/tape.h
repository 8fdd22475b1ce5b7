// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/compact_ops.h"
#include "core/backend/device.h"
#include "core/backend/pass_ops.h"
#include "core/model/batch.h"
#include "core/stack/scheme.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace normscope {

/// Columns of the feed-forward map's first GEMM: d_ff, or 2·d_ff where SwiGLU's gate and up run as one.
inline int feed_forward_width(const StackSpec& spec) {
    return is_gated(spec.activation) ? 2 * spec.d_ff : spec.d_ff;
}

/// Σ values, in order in float64.
template <class T>
double sum(const T* values, std::size_t count) {
    return std::accumulate(values, values + count, 0.0);
}

/// Σ values / count, summed in order in float64.
template <class T>
double mean(const T* values, std::size_t count) {
    return sum(values, count) / static_cast<double>(count);
}

/// The coefficients of a pass (core/backend/coefficients.h), in device memory.
template <class T>
struct Coefficients {
    Buffer<Numerics> numerics;                  ///< one
    Buffer<PassCoefficients<T>> whole;          ///< one
    Buffer<SublayerCoefficients<T>> sublayers;  ///< [2D]
    Buffer<T> eps;                              ///< of every norm, by eps_index() (norm_site.h)
};

/// A batch in the device's memory. What the batch does not have is null.
template <class T>
struct DeviceBatch {
    const std::int32_t *tokens = nullptr, *targets = nullptr;  ///< [sequences, length]
    const T* patches = nullptr;                                ///< [sequences, length, patch width]
    int sequences = 0, length = 0;
};
template <class T>
struct BatchBuffer {
    Buffer<std::int32_t> tokens, targets;
    Buffer<T> patches;
    /// Patches are rounded as weights are, where storage is in a short format.
    DeviceBatch<T> upload(Device& device, const Batch& batch, LayerOps<T>& layers) {
        tokens.upload(device, batch.tokens);
        targets.upload(device, batch.targets);
        patches.upload(device, std::vector<T>(batch.patches.begin(), batch.patches.end()));
        if (!patches.empty()) layers.round_weights(patches.size(), patches.data());
        return {tokens.data(), targets.empty() ? nullptr : targets.data(),
                patches.empty() ? nullptr : patches.data(), batch.sequences, batch.length};
    }
};

/// Whether a forward pass keeps the probabilities of attention: only where the operations need them
/// (LayerOps::needs_probabilities), or always, for probes.
enum class Probabilities { WhereNeeded, Kept };

/// The tape of one sub-layer, for the whole batch. R = B·n rows. Null if unused by the rule.
template <class T>
struct SublayerTape {
    T* x = nullptr;  ///< [R, d] the branch's input: the hidden state before the sub-layer (in a parallel
                     ///< layer, before the layer), or what a gate at the input made of it
    T* u =
        nullptr;  ///< [R, d] input of f where a norm, a factor or a gate is placed before it; else x serves
    T* f = nullptr;        ///< [R, d] output of f
    T* y = nullptr;        ///< [R, d] output of the output norm, where a gate or a learnable scale reads it
    T* z = nullptr;        ///< [R, d] the sum, where a post norm reads it
    T* ungated = nullptr;  ///< [R, d] before a gate at the output or after the input norm
    NormStatistics<T> in{}, out{}, post{};  ///< [R] each
    // attention
    T* qkv = nullptr;  ///< [R, d_q + 2·d_kv] as the scores read it: q and k normalised and rotated where the
                       /// < stack has them
    T* qk = nullptr;   ///< [R, d_q + d_kv] q and k as projected, where norms read them
    NormStatistics<T> q_norm{}, k_norm{};  ///< [R, heads] and [R, kv_heads] (qk_norm head) or [R] each (full)
    T* probabilities = nullptr;            ///< [B, H, n, n], zero where masked; null where row_softmax is not
    T* row_softmax = nullptr;              ///< [B, H, n, 2] (AttentionTape), where no probabilities are kept
    T* capped = nullptr;                   ///< [B, H, n, n] (AttentionTape), with a soft cap
    T* mixed = nullptr;                    ///< [R, d_q] heads' outputs, before W^O
    // feed-forward
    T* pre = nullptr;        ///< [R, feed_forward_width] before the activation; SwiGLU: [gate | up]
    T* activated = nullptr;  ///< [R, d_ff]
    T* slope = nullptr;      ///< [R, d_ff] the activation's derivative, where it is not gated
    /// In place of u and of the arrays of both kinds except row_softmax, in a tape of CompactOps.
    CompactTape compact;
};

/// Whether a backward pass reads the output of a sub-layer's map: a norm, a gate or a learnable scale follows
/// it.
inline bool f_is_kept(const StackSpec& s, const SublayerRule& rule) {
    return rule.out || (s.gpas.enabled && rule.gate == GateSite::Branch) ||
           s.branch_scale != BranchScale::None;
}

/// What of a training step's tape is in 16 bits (compact_ops.h).
struct CompactParts {
    bool sublayers = false, head = false;
};

/// What a forward pass leaves in its tape. With `for_gradient`, what a backward pass of parameter gradients
/// does not read (f and pre, where neither a norm nor a gate does) has one place for all sub-layers. Without
/// `probabilities`, row_softmax is in their place.
struct TapeContents {
    bool for_gradient = false, probabilities = true;
    CompactParts compact;  ///< with for_gradient alone
};

/// The results of a forward pass, in device memory: host code reads them through view(). One block, laid out
/// again only when a shape changes.
template <class T>
struct Tape {
    int sequences = 0, length = 0;
    std::vector<T*> hidden;  ///< 2D+1 of [R, d]: input of the first sub-layer, then after every sub-layer
    std::vector<SublayerTape<T>> sublayers;  ///< 2D
    T* embedded = nullptr;  ///< [R, d] before the embedding norm; hidden[0] where there is none
    NormStatistics<T> embedding_statistics{}, final_statistics{};
    T* final_hidden = nullptr;  ///< [R, d]; hidden[2D] where there is no final norm
    T* logits = nullptr;        ///< [R, V]
    CompactHead compact_head;   ///< in place of the logits
    T* losses = nullptr;        ///< [R] cross-entropy per token, nat

    /// The weights of the linear layers (ParameterTable::linear_layers) as [in, out], at their offsets in the
    /// arena: read by GEMM where the device prefers it. Of the pass's parameters.
    Buffer<T> transposed;
    Coefficients<T> coefficients;  ///< of the pass: read again by Jacobian products
    BatchBuffer<T> batch;
    std::int64_t counted = 0;  ///< rows of the batch that have a loss

    int rows() const { return sequences * length; }
    /// From one hidden state to the next: they lie one after another.
    std::size_t hidden_stride() const { return static_cast<std::size_t>(hidden[1] - hidden[0]); }
    /// Allocates for [sequences, length] tokens of this stack.
    void reserve(Device& device, const StackSpec& spec, const std::vector<SublayerRule>& rules, int sequences,
                 int length, const TapeContents& contents = {});
    /// The same in the worker's own memory (Device::scratch), valid until the worker reserves another tape.
    void reserve_scratch(Device& device, const StackSpec& spec, const std::vector<SublayerRule>& rules,
                         int sequences, int length, const TapeContents& contents);
    Device& device() const { return *device_; }
    HostView<T> view(const T* values, std::size_t count) const { return {*device_, values, count}; }
    /// Over the rows that have one.
    double mean_loss() const {
        const HostView<T> on_host = view(losses, static_cast<std::size_t>(rows()));
        return sum(on_host.data(), on_host.size()) / static_cast<double>(counted);
    }
    /// The size of the block of all arrays.
    std::size_t bytes() const { return memory_.bytes(); }

  private:
    Device* device_ = nullptr;
    Buffer<T> memory_;
};

/// The gradients that a backward pass records for probes; shards write disjoint rows.
template <class T>
struct BackwardRecord {
    std::vector<Buffer<T>> hidden;       ///< 2D+1 of [R, d]: ∂loss/∂h_k
    std::vector<Buffer<T>> norm_output;  ///< per norm site in forward order, [R, d]: ∂loss/∂(norm output)
};

}  // namespace normscope
