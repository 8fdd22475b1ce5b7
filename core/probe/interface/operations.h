// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

namespace normscope {

/// What a probe reads in addition to the parameters; using more is a programming error (ProbeInput::allow). A
/// pass that several probes of one step need runs once for all of them.
enum class ProbeNeeds {
    Nothing,   ///< the parameters alone
    Forward,   ///< the forward pass over the probe batch
    Backward,  ///< the forward and the backward pass
    Tangents,  ///< the forward pass, whose tape is read by JVPs
    Update,    ///< the parameters and their update: no pass
};
constexpr bool needs_forward(ProbeNeeds needs) {
    return needs == ProbeNeeds::Forward || needs == ProbeNeeds::Backward || needs == ProbeNeeds::Tangents;
}
constexpr bool needs_backward(ProbeNeeds needs) {
    return needs == ProbeNeeds::Backward;
}

/// The shares of a stack's places that a probe measures (core/probe/interface/places.h), from 0 to 1.
struct SelectedParts {
    double states = 1, sublayers = 1, layers = 1;
    double touched = 1;  ///< layers of which any sub-layer is measured
    double attention = 1, feed_forward = 1;
    double matrices = 1;
    double sites = 1;  ///< of the norms, by their sub-layers: the same under every scheme
};

/// The sizes for operation counts. Independent of the placement of the norms, so that runs that differ only
/// in the scheme are measured at the same steps.
struct ProbeShape {
    int depth = 0, d_model = 0, heads = 0, d_q = 0, d_kv = 0, d_ff = 0, vocab = 0;
    int feed_forward_maps = 2;  ///< matrices of one feed-forward sub-layer: 2, SwiGLU 3
    int batch = 1, accumulate = 1,
        context = 1;                ///< of a training step: sequences a micro-batch, micro-batches, tokens
    int sequences = 8, length = 1;  ///< of the probe batch
    SelectedParts part{};           ///< of the probe that is counted; shared passes are whole

    /// Weights of the linear maps of a layer.
    double layer_weights() const {
        return 2.0 * d_model * (d_q + d_kv) + static_cast<double>(feed_forward_maps) * d_model * d_ff;
    }
    double tokens() const { return static_cast<double>(sequences) * length; }
    /// Weights of all linear maps and embeddings; norms and biases are too few to count.
    double parameters() const;
    /// Values in the 2·depth + 1 hidden states of the probe batch.
    double states() const { return (2.0 * depth + 1) * tokens() * d_model; }
};

/// The number of held-out sequences of a probe, where affordable.
inline constexpr int kProbeSequences = 8;

/// The shape of a completed stack under a recipe's batch, with the probe batch it can afford: eight sequences
/// of the context's length; fewer sequences (at least two) and then a shorter prefix (at least 32 tokens,
/// where the context has them) until the shared forward and backward pass costs at most 1.25 training steps,
/// or 0.65 where a step is long (long_steps). From shapes alone.
ProbeShape probe_shape(const StackSpec& stack, int batch, int accumulate);

/// Operation counts. The unit is one multiply-add of a GEMM; memory traffic and other work are counted by
/// their time, with the factors in operations.cpp. Only ratios are meaningful.
double forward_operations(const ProbeShape& shape, double tokens, double length);
/// One training step: forward and backward pass over its tokens, sum of the shards' gradients, optimizer.
double step_operations(const ProbeShape& shape);
/// The shared passes over the probe batch of a probe with these needs.
double forward_pass_operations(const ProbeShape& shape);
double backward_pass_operations(const ProbeShape& shape);
double shared_operations(const ProbeShape& shape, ProbeNeeds needs);

/// Whether a step takes of the order of a second on two cores: then probes may take as long as the steps at
/// the start of a run, else four times as long.
bool long_steps(const ProbeShape& shape);

/// The operation counts of reading or writing n values, and of a pass of float64 scalar arithmetic over n
/// values.
double traffic_operations(double numbers);
double scalar_operations(double numbers);

}  // namespace normscope
