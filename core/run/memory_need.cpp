// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/memory_need.h"

#include "core/backend/pass_ops.h"
#include "core/base/error.h"
#include "core/model/attention.h"
#include "core/model/compact_sublayer.h"
#include "core/model/parameters.h"
#include "core/run/probe_steps.h"
#include "core/stack/fields.h"

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

std::string binary_size(double bytes) {
    char text[32];
    constexpr double mebi = 1 << 20, gibi = 1 << 30;
    if (bytes < gibi / 10)
        std::snprintf(text, sizeof text, "%.1f MiB", bytes / mebi);
    else
        std::snprintf(text, sizeof text, "%.1f GiB", bytes / gibi);
    return text;
}

/// Bytes that a forward pass keeps of one sequence: hidden states, and of every layer q, k and v, the
/// attention probabilities (and the scores under a soft cap) or the softmax of their rows, the heads' outputs
/// and the feed-forward map's hidden layer. Norms and gates keep more.
double kept_of_sequence(const StackSpec& s, int length, double scalar, bool probabilities = true,
                        const CompactParts& compact = {}) {
    const double n = length, narrow = compact.sublayers ? sizeof(std::uint16_t) : scalar;
    const double d_ff = is_gated(s.activation) ? 3.0 * s.d_ff : 2.0 * s.d_ff;
    const double inputs = compact.sublayers ? 2.0 * s.d_model : 0;
    const double capped = s.attention_soft_cap > 0 ? n : 0;
    const double maps = s.heads * n * ((probabilities && !compact.sublayers ? n : 2.0) + capped);
    const double layer = scalar * maps + narrow * n * (2.0 * s.d_q() + 2.0 * s.d_kv() + d_ff + inputs);
    return scalar * (2.0 * s.depth + 1) * n * s.d_model + s.depth * layer +
           (compact.head ? sizeof(std::uint16_t) : scalar) * n * s.vocab;
}

/// Bytes of what a training step keeps of one sequence on the device, and of its copies of a weight.
struct StepKeeps {
    double sequence, weight = 0;
};
StepKeeps step_keeps(const Recipe& recipe, const ParameterTable& table, Device& device) {
    const StackSpec& s = recipe.stack;
    const Precision precision = recipe.train.precision;
    if (precision == Precision::Fp64)
        return {kept_of_sequence(s, s.context, sizeof(double),
                                 needs_probabilities(device.pass_ops<double>().layers, s, s.context))};
    const PassOps<float> ops = device.pass_ops<float>(rounding_of(precision), recipe.train.precision_policy);
    const CompactParts compact = compact_parts(s, table, ops.compact, s.context);
    return {
        kept_of_sequence(s, s.context, sizeof(float), needs_probabilities(ops.layers, s, s.context), compact),
        compact.sublayers ? 2.0 * sizeof(std::uint16_t) : 0};
}

}  // namespace

MemoryNeed memory_need(const Recipe& recipe, int threads, Device& device, const RankShare& share) {
    const StackSpec& stack = recipe.stack;
    const TrainSpec& train = recipe.train;
    const double scalar = train.precision == Precision::Fp64 ? sizeof(double) : sizeof(float);
    const int of_device = device.shards(train.batch);
    const int shards = of_device > 1 ? of_device : std::min(share.ranks, train.batch);  // as RankGradients
    const int own = (shards + share.ranks - 1) / share.ranks;
    const double moments = train.optimizer.kind == OptimizerKind::Sgd ? 1 : 2;
    const int of_shard = (train.batch + shards - 1) / shards;
    const double sequences = std::min(own, std::max(1, threads)) * of_shard;
    const ProbeShape probe = probe_shape(recipe);
    MemoryNeed need;
    const ParameterTable table(stack);
    const StepKeeps step = step_keeps(recipe, table, device);
    // Of the others' shards it receives what it adds.
    const double gradients = own + static_cast<double>(shards - own) / share.ranks;
    const double kept_moments = share.optimizer_in_parts ? moments / share.ranks : moments;
    need.parameters =
        (scalar * (1 + gradients + kept_moments) + step.weight) * static_cast<double>(table.size());
    need.activations =
        std::max(sequences * step.sequence, probe.sequences * kept_of_sequence(stack, probe.length, scalar));
    return need;
}

MemoryNeed evaluation_memory_need(const StackSpec& stack, int sequences, int length, std::size_t scalar) {
    MemoryNeed need;
    need.parameters = static_cast<double>(scalar) * (1 + cpu_device().shards(sequences)) *
                      static_cast<double>(ParameterTable(stack).size());
    need.activations = sequences * kept_of_sequence(stack, length, static_cast<double>(scalar));
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

int largest_batch(const Recipe& recipe, int threads, Device& device, double bytes) {
    Recipe other = recipe;
    const auto fits = [&](int batch) {
        other.train.batch = batch;
        return memory_need(other, threads, device).total() <= bytes;
    };
    int fitting = 0, failing = recipe.train.batch + 1;
    while (failing - fitting > 1) {
        const int middle = fitting + (failing - fitting) / 2;
        (fits(middle) ? fitting : failing) = middle;
    }
    return fitting;
}

std::size_t replica_bytes(const Recipe& recipe, int threads, Device& device) {
    return static_cast<std::size_t>(1.5 * memory_need(recipe, threads, device).total());
}

std::string memory_line(const Recipe& recipe, int threads, Device& device, double available) {
    const double free = std::max(0.0, available);
    const int batch = largest_batch(recipe, threads, device, free);
    return "needs " + binary_size(memory_need(recipe, threads, device).total()) + ", " + binary_size(free) +
           " are free on " + device.capabilities().backend +
           (batch > 0 ? "; batch " + std::to_string(batch) + " would fit" : "; not even batch 1 would fit");
}

std::string out_of_memory_line(const Recipe& recipe, int threads, Device& device) {
    const MemoryNeed need = memory_need(recipe, threads, device);
    const auto free = static_cast<double>(device.memory().free);
    // A pass that fails has its weights, gradients and moments already.
    const int batch = largest_batch(recipe, threads, device, free + need.parameters);
    return "the run needs at least " + binary_size(need.total()) + ", " + binary_size(free) +
           " are free on " + device.capabilities().backend +
           (batch == 0                   ? "; not even batch 1 would fit"
            : batch < recipe.train.batch ? "; batch " + std::to_string(batch) + " would fit"
            : recipe.train.batch > 1     ? "; a smaller batch needs less"
                                         : "");
}

void require_device(const Recipe& recipe, int threads, Device& device, const RankShare& share) {
    if (share.ranks == 1) {
        require_device(recipe, threads, device);
        return;
    }
    const DeviceCapabilities can = device.capabilities();
    require_precision(can.formats, recipe.train.precision, can.backend + " (" + can.name + ")");
    const auto need = [&](const RankShare& of) { return memory_need(recipe, threads, device, of).total(); };
    const DeviceMemory memory = device.memory();
    const int together = can.host_readable ? share.on_machine : 1;
    const double available = static_cast<double>(can.host_readable ? memory.total : memory.free) / together;
    if (need(share) <= available) return;
    RankShare in_parts = share;
    in_parts.optimizer_in_parts = true;
    throw InputError(
        "--ranks",
        "each of " + std::to_string(share.ranks) + " ranks needs " + binary_size(need(share)) + " of memory" +
            (need(in_parts) <= available ? ", with --shard-optimizer " + binary_size(need(in_parts)) : ""),
        "up to " + binary_size(available) +
            (together > 1 ? ", since " + std::to_string(together) + " of them share a machine" : ""));
}

double require_device(const Recipe& recipe, int threads, Device& device, double promised) {
    const DeviceCapabilities can = device.capabilities();
    require_precision(can.formats, recipe.train.precision, can.backend + " (" + can.name + ")");
    const double need = memory_need(recipe, threads, device).total();
    if (can.host_readable) {
        require_memory(recipe, threads);
        return need;
    }
    const double available = static_cast<double>(device.memory().free) - promised;
    if (need > available)
        throw InputError(
            memory_line(recipe, threads, device, available) +
            (promised > 0 ? " (" + binary_size(promised) + " are for the runs that start with it)" : ""));
    return need;
}

}  // namespace normscope
