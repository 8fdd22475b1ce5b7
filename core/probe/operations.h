// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

namespace normscope {

/// What a probe reads besides the parameters; a probe that asks for more is a programming error (ProbeInput::allow). A
/// pass that several probes of one step need is made once for all of them.
enum class ProbeNeeds {
    Nothing,   ///< the parameters alone
    Forward,   ///< the forward pass over the probe batch
    Backward,  ///< the forward and the backward pass
    Tangents,  ///< the forward pass, whose tape its own tangent passes read
    Update,    ///< the parameters and what the optimizer does to them: no pass
};
constexpr bool needs_forward(ProbeNeeds needs) {
    return needs == ProbeNeeds::Forward || needs == ProbeNeeds::Backward || needs == ProbeNeeds::Tangents;
}
constexpr bool needs_backward(ProbeNeeds needs) { return needs == ProbeNeeds::Backward; }

/// The sizes that operation counts are made of. Nothing in it depends on where the norms stand, so that runs which
/// differ in the scheme alone are measured at the same steps.
struct ProbeShape {
    int depth = 0, d_model = 0, heads = 0, d_kv = 0, d_ff = 0, vocab = 0;
    int feed_forward_maps = 2;                  ///< matrices of one feed-forward sub-layer: 2, SwiGLU 3
    int batch = 1, accumulate = 1, context = 1;  ///< of a training step: sequences a micro-batch, micro-batches, tokens
    int sequences = 8, length = 1;              ///< of the probe batch

    double tokens() const { return static_cast<double>(sequences) * length; }
    /// Weights of all linear maps and embeddings; norms and biases are too few to count.
    double parameters() const;
    /// Numbers in the 2·depth + 1 hidden states of the probe batch.
    double states() const { return (2.0 * depth + 1) * tokens() * d_model; }
};

/// A probe looks at this many held-out sequences, where that is affordable.
inline constexpr int kProbeSequences = 8;

/// The shape of a completed stack under a recipe's batch, with the probe batch it can afford: eight sequences of the
/// context's length; fewer sequences (at least two) and then a shorter prefix (at least 32 tokens, where the context
/// has them) until the shared forward and backward pass costs at most 1.25 training steps, or 0.65 where a step is long
/// (long_steps). From shapes alone.
ProbeShape probe_shape(const StackSpec& stack, int batch, int accumulate);

/// Operation counts. The unit is one multiplication and addition of a matrix product; memory traffic and work that is
/// no matrix product are counted as what takes as long, by the factors in operations.cpp. Only ratios mean anything.
double forward_operations(const ProbeShape& shape, double tokens, double length);
/// One training step: forward and backward pass over its tokens, sum of the shards' gradients, optimizer.
double step_operations(const ProbeShape& shape);
/// The passes over the probe batch that a probe of these needs shares with others.
double forward_pass_operations(const ProbeShape& shape);
double backward_pass_operations(const ProbeShape& shape);
double shared_operations(const ProbeShape& shape, ProbeNeeds needs);

/// Whether a step takes so long (of the order of a second on two cores) that a person waits for it: then probes may
/// take as long as the steps in a run's beginning, else four times as long.
bool long_steps(const ProbeShape& shape);

/// What reading or writing n numbers of memory, and a pass of float64 scalar arithmetic over n numbers, count.
double traffic_operations(double numbers);
double scalar_operations(double numbers);

}  // namespace normscope
