// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/operations.h"

#include <algorithm>

namespace normscope {

namespace {

// Measured on two AVX-512 cores: 54e9 multiply-adds a second in float32 products, 10 GB/s of memory, and a
// little under a nanosecond for an element of a float64 loop.
constexpr double kTraffic = 20, kScalar = 30;
/// A pass with the tape of the whole batch has more cache misses than a training step's pieces.
constexpr double kTapePass = 1.25;
constexpr double kLongStep = 1e10;  ///< operations of a step that takes about 0.2 s
constexpr int kShards = 4;          ///< most shards of a batch (Device::shards of the CPU)
constexpr int kMinSequences = 2, kShortest = 32;

/// Gradient buffers: each shard's is written, read and written once more as a sum.
double gradient_buffers(const ProbeShape& s, int sequences) {
    return traffic_operations(s.parameters() * (2.0 * std::min(sequences, kShards) + 1));
}

}  // namespace

double traffic_operations(double numbers) {
    return kTraffic * numbers;
}
double scalar_operations(double numbers) {
    return kScalar * numbers;
}

double ProbeShape::parameters() const {
    return depth * layer_weights() + d_model * (2.0 * vocab + context);
}

double forward_operations(const ProbeShape& s, double tokens, double length) {
    return tokens *
           (s.depth * (s.layer_weights() + 2 * length * s.d_q) + static_cast<double>(s.d_model) * s.vocab);
}

double forward_pass_operations(const ProbeShape& s) {
    // The weights are transposed once a pass.
    return kTapePass * forward_operations(s, s.tokens(), s.length) + traffic_operations(2 * s.parameters());
}

double backward_pass_operations(const ProbeShape& s) {
    return kTapePass * 2 * forward_operations(s, s.tokens(), s.length) + gradient_buffers(s, s.sequences);
}

double shared_operations(const ProbeShape& s, ProbeNeeds needs) {
    return (needs_forward(needs) ? forward_pass_operations(s) : 0) +
           (needs_backward(needs) ? backward_pass_operations(s) : 0);
}

double step_operations(const ProbeShape& s) {
    const double tokens = static_cast<double>(s.batch) * s.accumulate * s.context;
    // The optimizer reads the gradient, reads and writes the parameters and two moments.
    return 3 * forward_operations(s, tokens, s.context) +
           traffic_operations((2.0 * s.accumulate + 7) * s.parameters()) + gradient_buffers(s, s.batch);
}

bool long_steps(const ProbeShape& s) {
    return step_operations(s) > kLongStep;
}

ProbeShape probe_shape(const StackSpec& stack, int batch, int accumulate) {
    ProbeShape s;
    s.depth = stack.depth;
    s.d_model = stack.d_model;
    s.heads = stack.heads;
    s.d_q = stack.d_q();
    s.d_kv = stack.d_kv();
    s.d_ff = stack.d_ff;
    s.vocab = stack.vocab;
    s.feed_forward_maps = is_gated(stack.activation) ? 3 : 2;
    s.batch = batch;
    s.accumulate = accumulate;
    s.context = stack.context;
    s.sequences = kProbeSequences;
    s.length = stack.context;
    const double most = (long_steps(s) ? 0.65 : 1.25) * step_operations(s);
    const auto too_much = [&] { return shared_operations(s, ProbeNeeds::Backward) > most; };
    while (too_much() && s.sequences > kMinSequences) --s.sequences;
    while (too_much() && s.length >= 2 * kShortest) s.length /= 2;
    return s;
}

}  // namespace normscope
