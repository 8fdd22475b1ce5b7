// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/memory_need.h"

#include "core/backend/ops.h"
#include "core/model/parameters.h"
#include "core/run/probe_steps.h"
#include "core/stack/error.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace normscope {

namespace {

std::string gigabytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
    return text;
}

/// Numbers that a forward pass keeps of one sequence: hidden states, and of every layer q, k and v, the
/// attention probabilities or the softmax of their rows, the heads' outputs and the feed-forward map's hidden
/// layer. Norms and gates keep more.
double kept_of_sequence(const StackSpec& s, int length, bool probabilities = true) {
    const double n = length;
    const double d_ff = s.activation == Activation::SwiGlu ? 3.0 * s.d_ff : 2.0 * s.d_ff;
    const double maps = s.heads * n * (probabilities ? n : 2.0);
    const double layer = n * (s.d_model + 2.0 * s.d_kv()) + maps + n * s.d_model + n * d_ff;
    return (2.0 * s.depth + 1) * n * s.d_model + s.depth * layer + n * s.vocab;
}

/// Whether a training step keeps the probabilities of attention.
bool keeps_probabilities(const Recipe& recipe, Device& device) {
    const StackSpec& s = recipe.stack;
    const Precision precision = recipe.train.precision;
    if (precision == Precision::Fp64) return device.ops<double>().needs_probabilities(s.context, s.d_head());
    return device.ops<float>(rounding_of(precision), recipe.train.precision_policy)
        .needs_probabilities(s.context, s.d_head());
}

}  // namespace

MemoryNeed memory_need(const Recipe& recipe, int threads, Device& device) {
    const StackSpec& stack = recipe.stack;
    const TrainSpec& train = recipe.train;
    const double scalar = train.precision == Precision::Fp64 ? sizeof(double) : sizeof(float);
    const int shards = device.shards(train.batch);
    const int moments = train.optimizer.kind == OptimizerKind::Sgd ? 1 : 2;
    const double sequences = std::min(shards, std::max(1, threads)) * ((train.batch + shards - 1) / shards);
    const ProbeShape probe = probe_shape(recipe);
    MemoryNeed need;
    need.parameters = scalar * (1 + shards + moments) * static_cast<double>(ParameterTable(stack).size());
    need.activations = scalar * std::max(sequences * kept_of_sequence(stack, stack.context,
                                                                      keeps_probabilities(recipe, device)),
                                         probe.sequences * kept_of_sequence(stack, probe.length));
    return need;
}

MemoryNeed evaluation_memory_need(const StackSpec& stack, int sequences, int length, std::size_t scalar) {
    MemoryNeed need;
    need.parameters = static_cast<double>(scalar) * (1 + cpu_device().shards(sequences)) *
                      static_cast<double>(ParameterTable(stack).size());
    need.activations = static_cast<double>(scalar) * sequences * kept_of_sequence(stack, length);
    return need;
}

void require_memory(const Recipe& recipe, int threads, Device& device) {
    require_memory(memory_need(recipe, threads, device), device);
}

void require_memory(const MemoryNeed& need, Device& device) {
    const auto memory = static_cast<double>(device.memory().total);
    if (need.total() <= memory) return;
    throw InputError(
        "stack",
        "the model needs " + gigabytes(need.total()) + " of memory (" + gigabytes(need.parameters) +
            " parameters, " + gigabytes(need.activations) + " activations)",
        std::string("up to the ") + (device.capabilities().host_readable ? "machine" : "device") + "'s " +
            gigabytes(memory));
}

}  // namespace normscope
